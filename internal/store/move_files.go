package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ moving.Imports = (*DB)(nil)

// moveFileRow is a row of move_files.
type moveFileRow struct {
	bun.BaseModel `bun:"table:move_files,alias:f"`

	ShopID  int64  `bun:"shop_id,pk"`
	MoveID  int64  `bun:"move_id,pk"`
	Part    int64  `bun:"part,pk"`
	Content string // sealed
}

// AddMoveFile adds a part of a move's file.
func (tx *Tx) AddMoveFile(ctx context.Context, of moving.ID, part int, content []byte) error {
	sealed, err := tx.db.seal.seal(tx.of, platform.Token(content))
	if err != nil {
		return fmt.Errorf("seal part %d of the file of move %d: %w", part, of, err)
	}
	_, err = insert(ctx, tx, []moveFileRow{{ShopID: int64(tx.of), MoveID: int64(of), Part: int64(part), Content: sealed}}, "")
	return err
}

// MoveFile returns a part of a move's file, or NotFound.
func (tx *Tx) MoveFile(ctx context.Context, of moving.ID, part int) ([]byte, error) {
	var row moveFileRow
	err := tx.q.NewSelect().Model(&row).Where("f.shop_id = ?", tx.of).Where("f.move_id = ?", of).Where("f.part = ?", part).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "the file of move %d was removed: upload it again", of).Entity("move").Code("moveFileRemoved")
	}
	if err != nil {
		return nil, fmt.Errorf("read part %d of the file of move %d: %w", part, of, err)
	}
	content, err := tx.db.seal.open(tx.of, row.Content)
	if err != nil {
		return nil, fmt.Errorf("open part %d of the file of move %d: %w", part, of, err)
	}
	return []byte(content), nil
}

// RemoveMoveFile removes a move's file.
func (tx *Tx) RemoveMoveFile(ctx context.Context, of moving.ID) error {
	_, err := tx.q.NewDelete().Model((*moveFileRow)(nil)).Where("shop_id = ?", tx.of).Where("move_id = ?", of).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove the file of move %d: %w", of, err)
	}
	return nil
}

// removeMoveFiles removes the files of all moves of the shop: they cannot be searched for one customer.
func (tx *Tx) removeMoveFiles(ctx context.Context) error {
	if _, err := tx.q.NewDelete().Model((*moveFileRow)(nil)).Where("shop_id = ?", tx.of).Exec(ctx); err != nil {
		return fmt.Errorf("remove the files of moves: %w", err)
	}
	return nil
}

// Imported returns the live contracts with the given imported ids, by these.
func (db *DB) Imported(ctx context.Context, of shop.ID, ids []string) (map[string]contract.ID, error) {
	found := make(map[string]contract.ID)
	if len(ids) == 0 {
		return found, nil
	}
	err := db.View(ctx, of, func(tx *Tx) error {
		var rows []struct {
			ID         int64
			ImportedID string
		}
		err := tx.q.NewSelect().TableExpr("contracts AS c").Column("c.id", "c.imported_id").Where("c.shop_id = ?", of).Where("c.imported_id IN (?)", bun.List(ids)).
			Where("c.imported_id <> ''").Where("c.status IN (?)", bun.List([]contract.Status{contract.Active, contract.Paused})).Scan(ctx, &rows)
		for _, r := range rows {
			found[r.ImportedID] = contract.ID(r.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find contracts that have come from elsewhere: %w", err)
	}
	return found, nil
}
