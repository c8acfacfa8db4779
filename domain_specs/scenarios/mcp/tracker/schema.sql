CREATE TABLE users (
  username TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1))
);

CREATE TABLE projects (
  project_key TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  lead TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  wip_limit INTEGER NOT NULL DEFAULT 3 CHECK (wip_limit > 0),
  last_number INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1))
);

CREATE TABLE members (
  project_key TEXT NOT NULL REFERENCES projects (project_key),
  username TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  role TEXT NOT NULL DEFAULT 'developer' CHECK (role IN ('maintainer', 'developer', 'reporter')),
  PRIMARY KEY (project_key, username)
);

CREATE TABLE milestones (
  milestone_id INTEGER PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES projects (project_key),
  title TEXT NOT NULL CHECK (length(title) > 0),
  due_date TEXT,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
  UNIQUE (project_key, title)
);

CREATE TABLE sprints (
  sprint_id INTEGER PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES projects (project_key),
  name TEXT NOT NULL CHECK (length(name) > 0),
  state TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'active', 'completed')),
  start_date TEXT NOT NULL,
  end_date TEXT NOT NULL,
  capacity INTEGER NOT NULL CHECK (capacity >= 0),
  UNIQUE (project_key, name),
  CHECK (end_date > start_date)
);

CREATE TABLE issues (
  issue_key TEXT PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES projects (project_key),
  number INTEGER NOT NULL,
  type TEXT NOT NULL DEFAULT 'task' CHECK (type IN ('bug', 'task', 'story')),
  title TEXT NOT NULL CHECK (length(title) > 0),
  description TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'in_progress', 'in_review', 'closed')),
  resolution TEXT CHECK (resolution IN ('fixed', 'duplicate', 'wont_fix', 'cannot_reproduce')),
  priority TEXT NOT NULL DEFAULT 'medium' CHECK (priority IN ('low', 'medium', 'high', 'critical')),
  points INTEGER CHECK (points > 0),
  reporter TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  assignee TEXT REFERENCES users (username) ON UPDATE CASCADE,
  milestone_id INTEGER REFERENCES milestones (milestone_id),
  sprint_id INTEGER REFERENCES sprints (sprint_id),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (project_key, number),
  CHECK ((status = 'closed') = (resolution IS NOT NULL)),
  CHECK (updated_at >= created_at)
);

CREATE INDEX issues_by_assignee ON issues (assignee, status);
CREATE INDEX issues_by_sprint ON issues (sprint_id);
CREATE INDEX issues_by_milestone ON issues (milestone_id);

CREATE TABLE labels (
  label_id INTEGER PRIMARY KEY,
  project_key TEXT NOT NULL REFERENCES projects (project_key),
  name TEXT NOT NULL CHECK (length(name) > 0),
  color TEXT NOT NULL DEFAULT '#8899aa',
  UNIQUE (project_key, name)
);

CREATE TABLE issue_labels (
  issue_key TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (label_id),
  PRIMARY KEY (issue_key, label_id)
);

CREATE TABLE comments (
  comment_id INTEGER PRIMARY KEY,
  issue_key TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  author TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  body TEXT NOT NULL CHECK (length(body) > 0),
  created_at TEXT NOT NULL
);

CREATE TABLE watchers (
  issue_key TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  username TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  PRIMARY KEY (issue_key, username)
);

CREATE TABLE links (
  link_id INTEGER PRIMARY KEY,
  source TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('blocks', 'duplicates', 'relates_to')),
  target TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  UNIQUE (source, kind, target),
  CHECK (source <> target)
);

CREATE TABLE history (
  history_id INTEGER PRIMARY KEY,
  issue_key TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  author TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  field TEXT NOT NULL,
  old_value TEXT,
  new_value TEXT,
  changed_at TEXT NOT NULL
);

CREATE TABLE worklogs (
  worklog_id INTEGER PRIMARY KEY,
  issue_key TEXT NOT NULL REFERENCES issues (issue_key) ON UPDATE CASCADE,
  author TEXT NOT NULL REFERENCES users (username) ON UPDATE CASCADE,
  minutes INTEGER NOT NULL CHECK (minutes > 0),
  day TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT ''
);

CREATE INDEX comments_by_issue ON comments (issue_key);
CREATE INDEX history_by_issue ON history (issue_key);
