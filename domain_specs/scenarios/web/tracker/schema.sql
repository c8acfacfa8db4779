CREATE TABLE users (
    username TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT 'developer' CHECK (role IN ('reporter', 'developer', 'maintainer')),
    team TEXT
);

CREATE TABLE labels (
    label TEXT PRIMARY KEY,
    description TEXT NOT NULL DEFAULT ''
);

CREATE TABLE milestones (
    milestone_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL UNIQUE,
    due_on TEXT,
    closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
);

CREATE TABLE issues (
    issue_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    text TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL DEFAULT 'bug' CHECK (kind IN ('bug', 'feature', 'question', 'task')),
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
    stage TEXT NOT NULL DEFAULT 'backlog' CHECK (stage IN ('backlog', 'in progress', 'review', 'done')),
    priority TEXT NOT NULL DEFAULT 'medium' CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
    author TEXT NOT NULL REFERENCES users (username),
    assignee TEXT REFERENCES users (username),
    milestone_id INTEGER REFERENCES milestones (milestone_id),
    opened_at TEXT NOT NULL,
    closed_at TEXT,
    reason TEXT,
    duplicate_of INTEGER REFERENCES issues (issue_id)
);

CREATE TABLE issue_labels (
    issue_id INTEGER NOT NULL REFERENCES issues (issue_id),
    label TEXT NOT NULL REFERENCES labels (label),
    PRIMARY KEY (issue_id, label)
);

CREATE TABLE comments (
    comment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    issue_id INTEGER NOT NULL REFERENCES issues (issue_id),
    username TEXT NOT NULL REFERENCES users (username),
    text TEXT NOT NULL,
    written_at TEXT NOT NULL
);

CREATE INDEX comments_by_issue ON comments (issue_id);
