CREATE TABLE users (
  email TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  department TEXT NOT NULL,
  job_title TEXT NOT NULL,
  desk TEXT
);

CREATE TABLE contacts (
  contact_id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  company TEXT,
  phone TEXT,
  UNIQUE (owner, email)
);

CREATE TABLE calendars (
  calendar_id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  name TEXT NOT NULL,
  visibility TEXT NOT NULL DEFAULT 'free_busy' CHECK (visibility IN ('private', 'free_busy', 'public')),
  UNIQUE (owner, name)
);

CREATE TABLE calendar_shares (
  calendar_id INTEGER NOT NULL REFERENCES calendars (calendar_id) ON DELETE CASCADE,
  email TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('reader', 'writer')),
  PRIMARY KEY (calendar_id, email)
);

CREATE TABLE rooms (
  room_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  floor INTEGER NOT NULL,
  capacity INTEGER NOT NULL CHECK (capacity > 0),
  equipment TEXT NOT NULL DEFAULT 'none'
);

CREATE TABLE events (
  event_id INTEGER PRIMARY KEY,
  calendar_id INTEGER NOT NULL REFERENCES calendars (calendar_id),
  organizer TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  title TEXT NOT NULL CHECK (length(title) > 0),
  start TEXT NOT NULL,
  "end" TEXT NOT NULL,
  room_id INTEGER REFERENCES rooms (room_id),
  status TEXT NOT NULL DEFAULT 'confirmed' CHECK (status IN ('confirmed', 'tentative', 'cancelled')),
  description TEXT NOT NULL DEFAULT '',
  CHECK ("end" > start)
);

CREATE INDEX events_by_room ON events (room_id, start);

CREATE TABLE attendees (
  event_id INTEGER NOT NULL REFERENCES events (event_id) ON DELETE CASCADE,
  email TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  response TEXT NOT NULL DEFAULT 'needs_action'
    CHECK (response IN ('needs_action', 'accepted', 'tentative', 'declined')),
  PRIMARY KEY (event_id, email)
);

CREATE INDEX attendees_by_user ON attendees (email);

CREATE TABLE folders (
  folder_id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  name TEXT NOT NULL CHECK (length(name) > 0),
  kind TEXT NOT NULL DEFAULT 'custom' CHECK (kind IN ('inbox', 'sent', 'trash', 'custom')),
  UNIQUE (owner, name)
);

CREATE TABLE messages (
  message_id INTEGER PRIMARY KEY,
  folder_id INTEGER NOT NULL REFERENCES folders (folder_id),
  thread_id INTEGER NOT NULL,
  in_reply_to INTEGER REFERENCES messages (message_id) ON DELETE SET NULL,
  sender TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  is_read INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1)),
  is_starred INTEGER NOT NULL DEFAULT 0 CHECK (is_starred IN (0, 1))
);

CREATE INDEX messages_by_folder ON messages (folder_id, sent_at);
CREATE INDEX messages_by_thread ON messages (thread_id);

CREATE TABLE recipients (
  message_id INTEGER NOT NULL REFERENCES messages (message_id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  kind TEXT NOT NULL DEFAULT 'to' CHECK (kind IN ('to', 'cc')),
  PRIMARY KEY (message_id, email)
);

CREATE TABLE labels (
  label_id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  name TEXT NOT NULL CHECK (length(name) > 0),
  UNIQUE (owner, name)
);

CREATE TABLE message_labels (
  message_id INTEGER NOT NULL REFERENCES messages (message_id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (label_id) ON DELETE CASCADE,
  PRIMARY KEY (message_id, label_id)
);

CREATE TABLE attachments (
  attachment_id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES messages (message_id) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  content TEXT NOT NULL DEFAULT ''
);

CREATE TABLE todos (
  todo_id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES users (email) ON UPDATE CASCADE,
  title TEXT NOT NULL CHECK (length(title) > 0),
  due TEXT,
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'done')),
  message_id INTEGER REFERENCES messages (message_id) ON DELETE SET NULL
);

CREATE INDEX attachments_by_message ON attachments (message_id);
