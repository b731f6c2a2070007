-- What orders cost that swap rules will change is known without asking the platform.
ALTER TABLE swap_rules ADD COLUMN variants text NOT NULL DEFAULT ''; -- JSON: the products that the rule names, as they were last read
