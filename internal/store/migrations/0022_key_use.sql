-- The address that a key was last used from; empty: never, or not known.
ALTER TABLE api_keys ADD COLUMN last_used_from text NOT NULL DEFAULT '';
