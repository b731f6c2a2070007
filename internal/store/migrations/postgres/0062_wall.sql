-- +goose Up
-- The second wall between stores: a statement finds the rows of the store that its
-- transaction names in the setting perennial.shop, and no others, whatever its
-- conditions are. One that looks across stores says so: perennial.scope is 'all'.
-- Where neither is set nothing is found. FORCE binds the owner of the tables too.
--
-- A later step that makes a table with a shop_id ends with SELECT wall_off('table'),
-- and one that reads or writes rows of stores begins with SET LOCAL perennial.scope = 'all'.

-- Each setting is read once for a statement. The planner takes IS NOT NULL for true of
-- nearly every row, and so reckons with as many rows as the statement's own condition
-- leaves; a comparison would count the store twice.
-- +goose StatementBegin
CREATE FUNCTION wall_off(tenants regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	own constant text := $own$(NULLIF(shop_id = (SELECT NULLIF(current_setting('perennial.shop', true), '')::bigint)
		OR (SELECT current_setting('perennial.scope', true) = 'all'), false) IS NOT NULL)$own$;
BEGIN
	EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', tenants);
	EXECUTE format('CREATE POLICY own_store ON %s USING %s WITH CHECK %s', tenants, own, own);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE
	tenants regclass;
BEGIN
	FOR tenants IN
		SELECT c.oid FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'shop_id' AND NOT a.attisdropped
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'webhook_signatures'
	LOOP
		PERFORM wall_off(tenants);
	END LOOP;
END $$;
-- +goose StatementEnd

-- Behind a policy no index serves LIKE, since PostgreSQL does not let a comparison that
-- might tell what it sees look at rows before the policy has. The tables in which parts
-- of texts are looked up are therefore read through views that have the condition, and
-- only written behind the policy.
-- +goose StatementBegin
DO $$
DECLARE
	tenants text;
BEGIN
	FOREACH tenants IN ARRAY ARRAY['contract_facets', 'customer_counts', 'search_terms'] LOOP
		EXECUTE format('CREATE POLICY read_by_view ON %s FOR SELECT USING (true)', tenants);
		EXECUTE format('CREATE VIEW own_%s AS SELECT * FROM %s WHERE shop_id = NULLIF(current_setting(''perennial.shop'', true), '''')::bigint', tenants, tenants);
	END LOOP;
END $$;
-- +goose StatementEnd
