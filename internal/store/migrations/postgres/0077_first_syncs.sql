-- +goose Up
-- How far the first reading of a store's contracts has come, one row for each connection.
CREATE TABLE first_syncs (
	shop_id bigint NOT NULL,
	started_at bigint NOT NULL,
	stage text NOT NULL,
	stage_at bigint NOT NULL,
	done bigint NOT NULL,
	total bigint NOT NULL,
	worked bigint NOT NULL, -- milliseconds in which contracts were read, without pauses
	noted_at bigint NOT NULL,
	finished_at bigint NOT NULL,
	owner text NOT NULL, -- which process reads; empty: none
	lease_until bigint NOT NULL,
	failure text NOT NULL,
	away_since bigint NOT NULL, -- when the connection before it ended; 0: there was none
	version bigint NOT NULL,
	PRIMARY KEY (shop_id, started_at),
	FOREIGN KEY (shop_id) REFERENCES shops (id)
);
SELECT wall_off('first_syncs');
