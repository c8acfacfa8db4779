CREATE TABLE departments (
  department_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL
);

-- Salaries of a position lie between its two bounds, a year.
CREATE TABLE positions (
  position_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  department_id INTEGER NOT NULL REFERENCES departments (department_id),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'filled', 'closed')),
  salary_min INTEGER NOT NULL CHECK (salary_min > 0),
  salary_max INTEGER NOT NULL,
  CHECK (salary_min <= salary_max)
);

-- The head of a department has no manager.
CREATE TABLE employees (
  employee_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  department_id INTEGER NOT NULL REFERENCES departments (department_id),
  position_id INTEGER UNIQUE REFERENCES positions (position_id),
  manager_id INTEGER REFERENCES employees (employee_id),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'left')),
  hired_on TEXT NOT NULL,
  left_on TEXT,
  CHECK (manager_id <> employee_id),
  CHECK ((status = 'left') = (left_on IS NOT NULL))
);

-- The current salary is the one with the latest day.
CREATE TABLE salaries (
  salary_id INTEGER PRIMARY KEY,
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  valid_from TEXT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (employee_id, valid_from)
);

CREATE TABLE leave_types (
  leave_type_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  days_per_year INTEGER NOT NULL CHECK (days_per_year > 0)
);

-- Working days of this year; `taken` counts the approved requests.
CREATE TABLE leave_balances (
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  leave_type_id INTEGER NOT NULL REFERENCES leave_types (leave_type_id),
  entitled INTEGER NOT NULL CHECK (entitled >= 0),
  taken INTEGER NOT NULL DEFAULT 0 CHECK (taken >= 0),
  PRIMARY KEY (employee_id, leave_type_id),
  CHECK (taken <= entitled)
);

CREATE TABLE leave_requests (
  request_id INTEGER PRIMARY KEY,
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  leave_type_id INTEGER NOT NULL REFERENCES leave_types (leave_type_id),
  first_day TEXT NOT NULL,
  last_day TEXT NOT NULL,
  days INTEGER NOT NULL CHECK (days > 0),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'refused', 'cancelled')),
  decided_by INTEGER REFERENCES employees (employee_id),
  note TEXT,
  CHECK (first_day <= last_day)
);

CREATE TABLE reviews (
  review_id INTEGER PRIMARY KEY,
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  reviewer_id INTEGER NOT NULL REFERENCES employees (employee_id),
  period TEXT NOT NULL,
  rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
  comment TEXT NOT NULL,
  UNIQUE (employee_id, period)
);

CREATE TABLE trainings (
  training_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  first_day TEXT NOT NULL,
  last_day TEXT NOT NULL,
  seats INTEGER NOT NULL CHECK (seats > 0),
  cost INTEGER NOT NULL CHECK (cost >= 0),
  CHECK (first_day <= last_day)
);

CREATE TABLE enrolments (
  enrolment_id INTEGER PRIMARY KEY,
  training_id INTEGER NOT NULL REFERENCES trainings (training_id),
  employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
  status TEXT NOT NULL DEFAULT 'enrolled' CHECK (status IN ('enrolled', 'cancelled')),
  UNIQUE (training_id, employee_id)
);

CREATE TABLE candidates (
  candidate_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  position_id INTEGER NOT NULL REFERENCES positions (position_id),
  stage TEXT NOT NULL DEFAULT 'new' CHECK (stage IN ('new', 'interview', 'offer', 'hired', 'rejected')),
  expected_salary INTEGER NOT NULL CHECK (expected_salary > 0)
);

CREATE TABLE interviews (
  interview_id INTEGER PRIMARY KEY,
  candidate_id INTEGER NOT NULL REFERENCES candidates (candidate_id),
  interviewer_id INTEGER NOT NULL REFERENCES employees (employee_id),
  starts_at TEXT NOT NULL,
  score INTEGER CHECK (score BETWEEN 1 AND 10),
  UNIQUE (interviewer_id, starts_at)
);
