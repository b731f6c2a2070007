-- Messages about a customer and no contract are erased by customer.
CREATE INDEX messages_of_customers ON messages (shop_id, customer_id) WHERE contract_id = 0 AND customer_id <> 0;
