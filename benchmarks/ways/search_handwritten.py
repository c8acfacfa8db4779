from ways.playing import Ways

HANDWRITTEN: Ways = {}
