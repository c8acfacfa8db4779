CREATE TABLE users (
    username TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    street TEXT,
    postcode TEXT,
    city TEXT
);

CREATE TABLE categories (
    slug TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE products (
    product_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    category TEXT NOT NULL REFERENCES categories (slug),
    price REAL NOT NULL CHECK (price >= 0),
    stock INTEGER NOT NULL DEFAULT 10 CHECK (stock >= 0),
    colour TEXT,
    material TEXT,
    warranty TEXT,
    description TEXT NOT NULL DEFAULT ''
);

CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY AUTOINCREMENT,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    username TEXT NOT NULL REFERENCES users (username),
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    written_at TEXT NOT NULL DEFAULT '2026-03-01T10:00:00Z',
    UNIQUE (product_id, username)
);

CREATE TABLE coupons (
    code TEXT PRIMARY KEY,
    percent INTEGER NOT NULL CHECK (percent BETWEEN 1 AND 90),
    minimum REAL NOT NULL DEFAULT 0,
    ends_on TEXT NOT NULL
);

CREATE TABLE cart (
    username TEXT NOT NULL REFERENCES users (username),
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (username, product_id)
);

-- What a customer has chosen on the way to an order.
CREATE TABLE checkouts (
    username TEXT PRIMARY KEY REFERENCES users (username),
    coupon TEXT REFERENCES coupons (code),
    name TEXT,
    street TEXT,
    postcode TEXT,
    city TEXT,
    delivery TEXT,
    payment TEXT,
    note TEXT
);

CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY AUTOINCREMENT,
    username TEXT NOT NULL REFERENCES users (username),
    status TEXT NOT NULL CHECK (status IN ('processing', 'shipped', 'delivered', 'cancelled')),
    placed_at TEXT NOT NULL,
    name TEXT NOT NULL,
    street TEXT NOT NULL,
    postcode TEXT NOT NULL,
    city TEXT NOT NULL,
    delivery TEXT NOT NULL DEFAULT 'standard',
    payment TEXT NOT NULL DEFAULT 'card',
    coupon TEXT,
    discount REAL NOT NULL DEFAULT 0,
    shipping REAL NOT NULL DEFAULT 0,
    total REAL NOT NULL DEFAULT 0,
    note TEXT
);

CREATE TABLE order_lines (
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_price REAL NOT NULL,
    PRIMARY KEY (order_id, product_id)
);

CREATE TABLE returns (
    return_id INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    reason TEXT NOT NULL,
    refund TEXT NOT NULL,
    note TEXT,
    status TEXT NOT NULL DEFAULT 'requested',
    opened_at TEXT NOT NULL,
    UNIQUE (order_id, product_id)
);

CREATE TABLE wishlist (
    username TEXT NOT NULL REFERENCES users (username),
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    PRIMARY KEY (username, product_id)
);

-- What the cart of a customer comes to. Standard delivery is free from 50 euros of goods, after the coupon.
CREATE VIEW totals AS
SELECT
    username,
    pieces,
    goods,
    coupon,
    discount,
    shipping,
    round(goods - discount + shipping, 2) AS total
FROM (
    SELECT
        *,
        CASE delivery WHEN 'express' THEN 9.9 WHEN 'pickup' THEN 0
            ELSE CASE WHEN goods - discount >= 50 OR pieces = 0 THEN 0 ELSE 4.9 END END AS shipping
    FROM (
        SELECT
            *,
            CASE WHEN percent IS NOT NULL AND goods >= minimum THEN round(goods * percent / 100, 2) ELSE 0 END
                AS discount
        FROM (
            SELECT
                u.username,
                k.coupon,
                k.delivery,
                n.percent,
                n.minimum,
                coalesce(sum(c.quantity), 0) AS pieces,
                round(coalesce(sum(c.quantity * p.price), 0), 2) AS goods
            FROM users u
            LEFT JOIN cart c ON c.username = u.username
            LEFT JOIN products p ON p.product_id = c.product_id
            LEFT JOIN checkouts k ON k.username = u.username
            LEFT JOIN coupons n ON n.code = k.coupon
            GROUP BY u.username
        )
    )
);

CREATE INDEX reviews_by_product ON reviews (product_id);
