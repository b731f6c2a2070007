-- The orders that were declined, by when they changed last.
CREATE INDEX attempts_with_cases ON attempts (shop_id, updated_at, id) WHERE dunning <> '';
