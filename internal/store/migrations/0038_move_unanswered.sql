-- A contract may be given back before it is known whether it was created.
ALTER TABLE move_items ADD COLUMN unanswered boolean NOT NULL DEFAULT false;
