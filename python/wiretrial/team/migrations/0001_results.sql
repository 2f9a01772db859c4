-- Files are addressed by their content and lie in pieces, a result is a list of files. Nothing that
-- is stored is changed afterwards: who may write may insert, and no more.

CREATE TABLE wiretrial.file (
    sha256 bytea PRIMARY KEY CHECK (length(sha256) = 32),
    bytes bigint NOT NULL CHECK (bytes >= 0)
);

CREATE TABLE wiretrial.piece (
    sha256 bytea NOT NULL REFERENCES wiretrial.file ON DELETE CASCADE,
    number integer NOT NULL CHECK (number >= 0),
    data bytea NOT NULL,
    PRIMARY KEY (sha256, number)
);
-- Trials come compressed.
ALTER TABLE wiretrial.piece ALTER COLUMN data SET STORAGE EXTERNAL;

-- A result as it was at one push. A study that has grown since is another one, of the same name.
CREATE TABLE wiretrial.result (
    sha256 bytea PRIMARY KEY CHECK (length(sha256) = 32),
    number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('study', 'load')),
    study text,
    trials integer NOT NULL,
    bytes bigint NOT NULL,
    first_day date,
    last_day date,
    pushed_at timestamptz NOT NULL DEFAULT now(),
    pushed_by name NOT NULL DEFAULT session_user
);
CREATE INDEX ON wiretrial.result (name);

CREATE TABLE wiretrial.result_file (
    result bytea NOT NULL REFERENCES wiretrial.result ON DELETE CASCADE,
    path text NOT NULL,
    sha256 bytea NOT NULL REFERENCES wiretrial.file,
    is_trial boolean NOT NULL,
    PRIMARY KEY (result, path)
);
CREATE INDEX ON wiretrial.result_file (sha256);

-- The index: a row for each trial's file, in however many results it is.
CREATE TABLE wiretrial.trial (
    sha256 bytea PRIMARY KEY REFERENCES wiretrial.file ON DELETE CASCADE,
    study text NOT NULL,
    study_digest text NOT NULL,
    occasion integer NOT NULL,
    block integer NOT NULL,
    position integer NOT NULL,
    scenario text NOT NULL,
    subject text NOT NULL,
    configuration text NOT NULL,
    protocol text NOT NULL,
    workload text NOT NULL,
    environment text NOT NULL,
    twin_of text,
    machine text NOT NULL,
    started_at text NOT NULL,
    day date NOT NULL,
    versions jsonb NOT NULL,
    commit text,
    verdict text NOT NULL,
    bottleneck text NOT NULL,
    ok bigint NOT NULL,
    errors bigint NOT NULL,
    figures jsonb NOT NULL,
    bounds jsonb NOT NULL
);
CREATE INDEX ON wiretrial.trial (study, scenario, day);

-- Results without those that a later push of the same name holds whole.
CREATE VIEW wiretrial.current_result AS
SELECT one.*
FROM wiretrial.result AS one
WHERE NOT EXISTS (
    SELECT FROM wiretrial.result AS later
    WHERE later.name = one.name
      AND later.sha256 <> one.sha256
      AND (later.trials > one.trials OR later.number > one.number)
      AND NOT EXISTS (
          SELECT FROM wiretrial.result_file AS mine
          WHERE mine.result = one.sha256
            AND mine.is_trial
            AND NOT EXISTS (
                SELECT FROM wiretrial.result_file AS theirs
                WHERE theirs.result = later.sha256
                  AND theirs.path = mine.path
                  AND theirs.sha256 = mine.sha256
            )
      )
);

-- Roles belong to the whole server, so another database may have made them.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['wiretrial_reader', 'wiretrial_writer'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA wiretrial TO wiretrial_reader, wiretrial_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA wiretrial TO wiretrial_reader, wiretrial_writer;
GRANT INSERT ON wiretrial.file, wiretrial.piece, wiretrial.result_file, wiretrial.trial
    TO wiretrial_writer;
-- Number, time and role of a push are the server's to say.
GRANT INSERT (sha256, name, kind, study, trials, bytes, first_day, last_day)
    ON wiretrial.result TO wiretrial_writer;
