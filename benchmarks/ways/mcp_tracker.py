from ways.playing import Ways

TRACKER: Ways = {}
