-- Prices of swap rules' products, higher than those of what the rules replace, of which customers
-- were notified. Orders that are due from an instant on have them.
CREATE TABLE swap_notices (
	shop_id bigint NOT NULL,
	contract_id bigint NOT NULL,
	rule_id bigint NOT NULL,
	variant_id bigint NOT NULL,
	price bigint NOT NULL, -- of one, in minor units
	currency {{.BinaryText}} NOT NULL,
	from_at bigint NOT NULL,
	kept bigint NOT NULL, -- of one in the contract until then; -1: the rule does not last
	pricing text NOT NULL, -- JSON: prices by cycle that come with the price
	PRIMARY KEY (shop_id, contract_id, rule_id, variant_id, price),
	FOREIGN KEY (shop_id, contract_id) REFERENCES contracts (shop_id, id),
	FOREIGN KEY (shop_id, rule_id) REFERENCES swap_rules (shop_id, id)
);
{{.RowSecurity "swap_notices"}}
