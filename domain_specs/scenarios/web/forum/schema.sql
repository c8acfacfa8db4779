CREATE TABLE users (
    username TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'moderator')),
    city TEXT,
    about TEXT NOT NULL DEFAULT '',
    joined_on TEXT NOT NULL DEFAULT '2025-01-01'
);

CREATE TABLE boards (
    slug TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL DEFAULT ''
);

CREATE TABLE threads (
    thread_id INTEGER PRIMARY KEY AUTOINCREMENT,
    board TEXT NOT NULL REFERENCES boards (slug),
    title TEXT NOT NULL,
    username TEXT NOT NULL REFERENCES users (username),
    opened_at TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
);

CREATE TABLE posts (
    post_id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id INTEGER NOT NULL REFERENCES threads (thread_id),
    username TEXT NOT NULL REFERENCES users (username),
    text TEXT NOT NULL,
    written_at TEXT NOT NULL,
    edited_at TEXT,
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))
);

CREATE TABLE likes (
    post_id INTEGER NOT NULL REFERENCES posts (post_id),
    username TEXT NOT NULL REFERENCES users (username),
    PRIMARY KEY (post_id, username)
);

CREATE TABLE watches (
    username TEXT NOT NULL REFERENCES users (username),
    thread_id INTEGER NOT NULL REFERENCES threads (thread_id),
    PRIMARY KEY (username, thread_id)
);

CREATE TABLE messages (
    message_id INTEGER PRIMARY KEY AUTOINCREMENT,
    sender TEXT NOT NULL REFERENCES users (username),
    recipient TEXT NOT NULL REFERENCES users (username),
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    sent_at TEXT NOT NULL,
    is_read INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1))
);

CREATE TABLE reports (
    report_id INTEGER PRIMARY KEY AUTOINCREMENT,
    post_id INTEGER NOT NULL REFERENCES posts (post_id),
    username TEXT NOT NULL REFERENCES users (username),
    reason TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'removed', 'dismissed')),
    opened_at TEXT NOT NULL,
    UNIQUE (post_id, username)
);

CREATE INDEX posts_by_thread ON posts (thread_id);
