CREATE TABLE IF NOT EXISTS customer (
    id integer PRIMARY KEY,
    email text NOT NULL UNIQUE,
    password text NOT NULL
);

CREATE TABLE IF NOT EXISTS product (
    id integer PRIMARY KEY,
    name text NOT NULL,
    category text NOT NULL,
    price_cents integer NOT NULL
);

CREATE TABLE IF NOT EXISTS session (
    token text PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES customer,
    begun_at timestamptz NOT NULL DEFAULT now()
);

-- A basket is a session's: a customer who signs in twice has two.
CREATE TABLE IF NOT EXISTS basket_line (
    token text NOT NULL REFERENCES session ON DELETE CASCADE,
    product_id integer NOT NULL REFERENCES product,
    quantity integer NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (token, product_id)
);

CREATE TABLE IF NOT EXISTS purchase (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    customer_id integer NOT NULL REFERENCES customer,
    placed_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS purchase_of_customer ON purchase (customer_id, placed_at);

CREATE TABLE IF NOT EXISTS purchase_line (
    purchase_id uuid NOT NULL REFERENCES purchase ON DELETE CASCADE,
    product_id integer NOT NULL REFERENCES product,
    quantity integer NOT NULL,
    price_cents integer NOT NULL,
    PRIMARY KEY (purchase_id, product_id)
);
