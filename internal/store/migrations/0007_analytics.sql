-- The merchant's figures. contract_history and order_outcomes are what happened; all other
-- tables are sums of them and can be computed again. Days are counted from 1970-01-01 in the
-- store's calendar, months are 12 times the year plus 0 to 11, and amounts are minor units.

-- How far the figures of a store are. Its lock orders the changes.
CREATE TABLE analytics_state (
	shop_id bigint NOT NULL REFERENCES shops (id),
	id bigint NOT NULL, -- 1
	last_day bigint NOT NULL, -- of a change
	last_number bigint NOT NULL, -- in contract_history
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "analytics_state"}}

-- The state of a contract from one change to the next.
CREATE TABLE contract_history (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- number of the change in the store
	contract_id bigint NOT NULL,
	day bigint NOT NULL,
	valid_from bigint NOT NULL,
	valid_to bigint NOT NULL, -- 0: current
	status {{.BinaryText}} NOT NULL,
	currency {{.BinaryText}} NOT NULL,
	plan_group_id bigint NOT NULL, -- 0: none of the store's
	mrr bigint NOT NULL,
	order_amount bigint NOT NULL, -- expected, before tax and shipping
	customer_id bigint NOT NULL,
	trial boolean NOT NULL,
	lifelong boolean NOT NULL,
	reason {{.BinaryText}} NOT NULL, -- why it changed, where the columns do not say it
	counted boolean NOT NULL, -- it or an earlier row of the contract has MRR
	cohort bigint NOT NULL, -- month in which the contract began; 0: before the store's figures
	PRIMARY KEY (shop_id, id)
);
CREATE UNIQUE INDEX contract_history_current ON contract_history (shop_id, contract_id) WHERE valid_to = 0;
CREATE INDEX contract_history_of ON contract_history (shop_id, contract_id, id);
{{.RowSecurity "contract_history"}}

-- What became of an order that was paid, declined or skipped.
CREATE TABLE order_outcomes (
	shop_id bigint NOT NULL,
	id bigint NOT NULL, -- of the attempt
	contract_id bigint NOT NULL,
	cycle bigint NOT NULL, -- 13 stands for all later ones
	currency {{.BinaryText}} NOT NULL,
	plan_group_id bigint NOT NULL,
	cohort bigint NOT NULL, -- of the subscriber
	failed_day bigint NOT NULL, -- of the first decline; 0: none
	failed_amount bigint NOT NULL,
	class {{.BinaryText}} NOT NULL, -- of the first decline
	paid_day bigint NOT NULL, -- 0: it is not
	paid_amount bigint NOT NULL,
	try bigint NOT NULL, -- that was paid
	result {{.BinaryText}} NOT NULL, -- empty: none yet
	result_day bigint NOT NULL,
	PRIMARY KEY (shop_id, id)
);
{{.RowSecurity "order_outcomes"}}

-- What happened on a day, by currency and plan group, and where it ended. A day without a
-- change has no row.
CREATE TABLE metric_days (
	shop_id bigint NOT NULL,
	day bigint NOT NULL,
	currency {{.BinaryText}} NOT NULL,
	plan_group_id bigint NOT NULL,
	-- At the end of the day.
	mrr bigint NOT NULL,
	contracts bigint NOT NULL,
	subscribers bigint NOT NULL,
	trials bigint NOT NULL,
	lifelong bigint NOT NULL,
	-- Movements of MRR. Those that take away are negative.
	opening bigint NOT NULL,
	new bigint NOT NULL,
	reactivated bigint NOT NULL,
	resumed bigint NOT NULL,
	expansion bigint NOT NULL,
	contraction bigint NOT NULL,
	paused bigint NOT NULL,
	churned_voluntary bigint NOT NULL,
	churned_involuntary bigint NOT NULL,
	transferred bigint NOT NULL,
	-- Renewals.
	orders bigint NOT NULL,
	revenue bigint NOT NULL,
	failed bigint NOT NULL,
	failed_amount bigint NOT NULL,
	recovered bigint NOT NULL,
	recovered_amount bigint NOT NULL,
	PRIMARY KEY (shop_id, day, currency, plan_group_id)
);
CREATE INDEX metric_days_last ON metric_days (shop_id, currency, plan_group_id, day);
{{.RowSecurity "metric_days"}}

-- Subscribers at the end of a day, and how many came and went.
CREATE TABLE subscriber_days (
	shop_id bigint NOT NULL,
	day bigint NOT NULL,
	subscribers bigint NOT NULL,
	opening bigint NOT NULL,
	gained bigint NOT NULL,
	lost bigint NOT NULL,
	lost_by_declines bigint NOT NULL,
	merged bigint NOT NULL,
	PRIMARY KEY (shop_id, day)
);
{{.RowSecurity "subscriber_days"}}

-- Of the subscribers at the start of a month, those who are none at its end.
CREATE TABLE churn_months (
	shop_id bigint NOT NULL,
	month bigint NOT NULL,
	voluntary bigint NOT NULL,
	by_declines bigint NOT NULL,
	PRIMARY KEY (shop_id, month)
);
{{.RowSecurity "churn_months"}}

-- What happened in a month to those whose first contract began in another.
CREATE TABLE cohort_months (
	shop_id bigint NOT NULL,
	cohort bigint NOT NULL,
	month bigint NOT NULL,
	currency {{.BinaryText}} NOT NULL, -- of the revenue; empty: the row has counts
	joined bigint NOT NULL,
	change bigint NOT NULL,
	revenue bigint NOT NULL,
	PRIMARY KEY (shop_id, cohort, month, currency)
);
{{.RowSecurity "cohort_months"}}

-- What became of the orders whose first decline fell on a day.
CREATE TABLE failure_days (
	shop_id bigint NOT NULL,
	day bigint NOT NULL,
	currency {{.BinaryText}} NOT NULL,
	class {{.BinaryText}} NOT NULL,
	try bigint NOT NULL, -- that was paid; 0: the row has the failures
	failed bigint NOT NULL,
	failed_amount bigint NOT NULL,
	recovered bigint NOT NULL,
	recovered_amount bigint NOT NULL,
	PRIMARY KEY (shop_id, day, currency, class, try)
);
{{.RowSecurity "failure_days"}}

-- How orders ended on a day, by their cycle.
CREATE TABLE cycle_days (
	shop_id bigint NOT NULL,
	day bigint NOT NULL,
	cycle bigint NOT NULL, -- 13 stands for all later ones
	paid bigint NOT NULL,
	lost bigint NOT NULL,
	skipped bigint NOT NULL,
	PRIMARY KEY (shop_id, day, cycle)
);
{{.RowSecurity "cycle_days"}}

-- A customer with an ACTIVE contract, or who had one.
CREATE TABLE subscribers (
	shop_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	contracts bigint NOT NULL, -- ACTIVE
	cohort bigint NOT NULL, -- month in which the first contract began; 0: before the store's figures
	since bigint NOT NULL, -- day
	until bigint NOT NULL, -- day; 0: never
	declined boolean NOT NULL, -- it ended because a payment failed for good
	counted bigint NOT NULL, -- month in which churn counts the customer, or did; 0: none
	PRIMARY KEY (shop_id, customer_id)
);
CREATE INDEX subscribers_lost ON subscribers (shop_id, until, since, declined) WHERE contracts = 0;
{{.RowSecurity "subscribers"}}

-- How many ACTIVE contracts a customer has, by currency and plan group.
CREATE TABLE subscriber_holdings (
	shop_id bigint NOT NULL,
	customer_id bigint NOT NULL,
	currency {{.BinaryText}} NOT NULL,
	plan_group_id bigint NOT NULL,
	contracts bigint NOT NULL,
	PRIMARY KEY (shop_id, customer_id, currency, plan_group_id)
);
{{.RowSecurity "subscriber_holdings"}}
