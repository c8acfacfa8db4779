from ways.playing import Ways

OFFICE: Ways = {}
