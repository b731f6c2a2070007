-- The list of contracts counts and sorts what a merchant looks after from these alone.
CREATE INDEX contracts_failing_by_creation ON contracts (shop_id, line, created_at, id) WHERE dunning <> '';
CREATE INDEX contracts_ending_by_creation ON contracts (shop_id, line, created_at, id) WHERE status IN ('ACTIVE', 'PAUSED') AND (ending <> '' OR expire_at > 0);
