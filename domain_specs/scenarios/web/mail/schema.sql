CREATE TABLE users (
    username TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    address TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    signature TEXT NOT NULL DEFAULT '',
    away TEXT NOT NULL DEFAULT ''
);

-- Folders of one's own; inbox, archive, sent, drafts, spam and trash are always there.
CREATE TABLE folders (
    owner TEXT NOT NULL REFERENCES users (username),
    folder TEXT NOT NULL,
    PRIMARY KEY (owner, folder)
);

CREATE TABLE labels (
    owner TEXT NOT NULL REFERENCES users (username),
    label TEXT NOT NULL,
    PRIMARY KEY (owner, label)
);

CREATE TABLE messages (
    message_id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL REFERENCES users (username),
    folder TEXT NOT NULL DEFAULT 'inbox',
    sender TEXT NOT NULL,
    sender_name TEXT NOT NULL DEFAULT '',
    recipients TEXT NOT NULL DEFAULT '',
    cc TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '',
    attachments TEXT NOT NULL DEFAULT '',
    sent_at TEXT NOT NULL,
    is_read INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1)),
    starred INTEGER NOT NULL DEFAULT 0 CHECK (starred IN (0, 1)),
    label TEXT
);

CREATE TABLE files (
    owner TEXT NOT NULL REFERENCES users (username),
    file TEXT NOT NULL,
    PRIMARY KEY (owner, file)
);

CREATE TABLE contacts (
    contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL REFERENCES users (username),
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    UNIQUE (owner, address)
);

-- Mail whose sender or subject contains a text goes to a folder, or gets a label.
CREATE TABLE rules (
    rule_id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL REFERENCES users (username),
    looks_at TEXT NOT NULL CHECK (looks_at IN ('sender', 'subject')),
    contains TEXT NOT NULL,
    folder TEXT,
    label TEXT
);

CREATE VIEW all_folders AS
SELECT u.username AS owner, d.column1 AS folder, d.column2 AS place
FROM users u,
(VALUES ('inbox', 1), ('drafts', 2), ('sent', 3), ('archive', 4), ('spam', 5), ('trash', 6)) d
UNION ALL
SELECT owner, folder, 7 FROM folders;

CREATE INDEX messages_by_owner ON messages (owner, folder);
