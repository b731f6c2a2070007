CREATE INDEX messages_failed ON messages (shop_id, id) WHERE status = 'FAILED';
