CREATE TABLE users (
    username TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    password TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT 'editor' CHECK (role IN ('reader', 'editor', 'admin'))
);

CREATE TABLE categories (
    category TEXT PRIMARY KEY,
    description TEXT NOT NULL DEFAULT ''
);

CREATE TABLE pages (
    page_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL UNIQUE COLLATE NOCASE,
    protected INTEGER NOT NULL DEFAULT 0 CHECK (protected IN (0, 1))
);

-- Every version of every page; the one of the highest number is shown.
CREATE TABLE revisions (
    revision_id INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL REFERENCES pages (page_id),
    text TEXT NOT NULL,
    summary TEXT NOT NULL DEFAULT '',
    username TEXT NOT NULL REFERENCES users (username),
    edited_at TEXT NOT NULL
);

CREATE TABLE page_categories (
    page_id INTEGER NOT NULL REFERENCES pages (page_id),
    category TEXT NOT NULL REFERENCES categories (category),
    PRIMARY KEY (page_id, category)
);

-- Old titles that lead to a page.
CREATE TABLE redirects (
    title TEXT PRIMARY KEY COLLATE NOCASE,
    page_id INTEGER NOT NULL REFERENCES pages (page_id)
);

CREATE TABLE talk (
    comment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL REFERENCES pages (page_id),
    username TEXT NOT NULL REFERENCES users (username),
    text TEXT NOT NULL,
    written_at TEXT NOT NULL
);

CREATE TABLE watches (
    username TEXT NOT NULL REFERENCES users (username),
    page_id INTEGER NOT NULL REFERENCES pages (page_id),
    PRIMARY KEY (username, page_id)
);

CREATE VIEW current AS
SELECT p.page_id, p.title, p.protected, r.revision_id, r.text, r.summary, r.username, r.edited_at
FROM pages p JOIN revisions r ON r.revision_id = (SELECT max(revision_id) FROM revisions x WHERE x.page_id = p.page_id);

-- Every title, and the page that it leads to.
CREATE VIEW titles AS
SELECT title, page_id, NULL AS redirected FROM pages UNION ALL SELECT title, page_id, title FROM redirects;

CREATE INDEX revisions_by_page ON revisions (page_id);
