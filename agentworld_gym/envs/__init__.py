"""The Gymnasium environments, alone, in waves and with menus, and the episodes that they play."""
