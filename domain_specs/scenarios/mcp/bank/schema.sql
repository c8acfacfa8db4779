CREATE TABLE branches (
  branch_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL,
  phone TEXT NOT NULL
);

CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  phone TEXT NOT NULL,
  branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
  since TEXT NOT NULL
);

-- Whoever is signed in; one row.
CREATE TABLE sessions (
  session_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  started_at TEXT NOT NULL
);

-- The balance is the sum of the account's transactions. The transfer limit holds for a day.
CREATE TABLE accounts (
  account_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('current', 'savings')),
  iban TEXT NOT NULL UNIQUE,
  balance REAL NOT NULL DEFAULT 0,
  overdraft REAL NOT NULL DEFAULT 0 CHECK (overdraft >= 0),
  transfer_limit REAL NOT NULL CHECK (transfer_limit >= 0),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed')),
  opened_on TEXT NOT NULL,
  UNIQUE (customer_id, name),
  CHECK (round(balance + overdraft, 2) >= 0)
);

CREATE TABLE cards (
  card_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  last4 TEXT NOT NULL UNIQUE CHECK (length(last4) = 4),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen', 'replaced')),
  daily_limit REAL NOT NULL CHECK (daily_limit BETWEEN 0 AND 5000),
  expires_on TEXT NOT NULL
);

CREATE TABLE payees (
  payee_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  name TEXT NOT NULL,
  iban TEXT NOT NULL,
  UNIQUE (customer_id, iban)
);

-- Money that left an account has a negative amount.
CREATE TABLE transactions (
  transaction_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  card_id INTEGER REFERENCES cards (card_id),
  posted_at TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('opening', 'card', 'transfer', 'salary', 'interest', 'fee', 'loan')),
  counterparty TEXT NOT NULL,
  category TEXT NOT NULL,
  reference TEXT,
  amount REAL NOT NULL CHECK (amount <> 0),
  CHECK ((kind = 'card') = (card_id IS NOT NULL))
);

CREATE INDEX transactions_by_account ON transactions (account_id, posted_at);

CREATE TABLE standing_orders (
  standing_order_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  payee_id INTEGER NOT NULL REFERENCES payees (payee_id),
  amount REAL NOT NULL CHECK (amount > 0),
  frequency TEXT NOT NULL CHECK (frequency IN ('weekly', 'monthly', 'quarterly')),
  next_on TEXT NOT NULL,
  reference TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'cancelled'))
);

CREATE TABLE disputes (
  dispute_id INTEGER PRIMARY KEY,
  transaction_id INTEGER NOT NULL UNIQUE REFERENCES transactions (transaction_id),
  reason TEXT NOT NULL CHECK (reason IN ('duplicate', 'not recognised', 'wrong amount', 'not received')),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'accepted', 'rejected', 'withdrawn')),
  opened_at TEXT NOT NULL
);

CREATE TABLE loans (
  loan_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  purpose TEXT NOT NULL,
  principal REAL NOT NULL CHECK (principal > 0),
  outstanding REAL NOT NULL CHECK (outstanding >= 0),
  rate REAL NOT NULL CHECK (rate > 0),
  monthly_payment REAL NOT NULL CHECK (monthly_payment > 0),
  status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'repaid')),
  CHECK (outstanding <= principal),
  CHECK ((status = 'repaid') = (outstanding = 0))
);
