"""How agents of several projects write the gestures of a phone: each is read into the JSON action of AndroidWorld."""
