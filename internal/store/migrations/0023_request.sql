-- The request of the interface that made an entry, as the API log has it; empty: none.
ALTER TABLE activity ADD COLUMN request_id text NOT NULL DEFAULT '';
CREATE INDEX api_requests_by_request ON api_requests (shop_id, request_id, at, id);
