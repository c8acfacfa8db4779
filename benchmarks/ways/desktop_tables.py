"""x"""
from ways.playing import Ways
WAYS: Ways = {}
