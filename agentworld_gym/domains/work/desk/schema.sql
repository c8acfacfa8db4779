CREATE TABLE people (
  email TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  team TEXT NOT NULL
);

CREATE TABLE messages (
  message_id INTEGER PRIMARY KEY,
  box TEXT NOT NULL CHECK (box IN ('inbox', 'sent')),
  in_reply_to INTEGER REFERENCES messages (message_id),
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  is_read INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1))
);

CREATE TABLE attachments (
  attachment_id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES messages (message_id) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  content TEXT NOT NULL
);

CREATE TABLE issues (
  issue_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL CHECK (length(title) > 0),
  body TEXT NOT NULL DEFAULT '',
  reporter TEXT NOT NULL,
  assignee TEXT REFERENCES people (email),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
  resolution TEXT CHECK (resolution IN ('fixed', 'duplicate', 'wont_fix')),
  duplicate_of INTEGER REFERENCES issues (issue_id),
  created_at TEXT NOT NULL,
  CHECK ((status = 'closed') = (resolution IS NOT NULL)),
  CHECK (duplicate_of IS NULL OR resolution = 'duplicate')
);

CREATE TABLE comments (
  comment_id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issues (issue_id) ON DELETE CASCADE,
  author TEXT NOT NULL,
  written_at TEXT NOT NULL,
  body TEXT NOT NULL CHECK (length(body) > 0)
);

CREATE INDEX attachments_by_message ON attachments (message_id);
CREATE INDEX comments_by_issue ON comments (issue_id);
