package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

// keyRow is a row of api_keys.
type keyRow struct {
	bun.BaseModel `bun:"table:api_keys,alias:k"`

	ShopID       int64 `bun:"shop_id,pk"`
	ID           int64 `bun:"id,pk"`
	Name         string
	Hint         string
	Hash         string // hexadecimal
	Scopes       string // with spaces between
	App          string
	ConnectionID int64
	Tail         string
	CreatedBy    string
	CreatedAt    int64
	LastUsedAt   int64
	LastUsedFrom string
	RevokedAt    int64
	Version      int64

	Shop *shopRow `bun:"rel:belongs-to,join:shop_id=id"` // only where it is asked for
}

// hashText returns the hexadecimal digits of a hash.
func hashText[H ~[32]byte](h H) string {
	digits := [32]byte(h)
	return hex.EncodeToString(digits[:])
}

func (r *keyRow) Columns(m *mapping, k *access.Key) {
	mapShop(m, &r.ShopID, &k.Shop)
	mapInt(m, &r.ID, &k.ID)
	mapText(m, &r.Name, &k.Name)
	mapText(m, &r.Hint, &k.Hint)
	mapHash(m, "hash", &r.Hash, &k.Hash)
	mapWords(m, &r.Scopes, &k.Scopes)
	mapText(m, &r.App, &k.App)
	mapSame(m, &r.ConnectionID, &k.Connection)
	mapText(m, &r.Tail, &k.Tail)
	mapText(m, &r.CreatedBy, &k.CreatedBy)
	mapTime(m, &r.CreatedAt, &k.CreatedAt)
	mapTime(m, &r.LastUsedAt, &k.LastUsedAt)
	mapText(m, &r.LastUsedFrom, &k.LastUsedFrom)
	mapTime(m, &r.RevokedAt, &k.RevokedAt)
	mapSame(m, &r.Version, &k.Version)
	m.within(r.ID)
}

// LockKeys makes other changes of the shop's keys wait until this transaction
// ends.
func (tx *Tx) LockKeys(ctx context.Context) error {
	var id int64
	q := tx.q.NewSelect().Model((*shopRow)(nil)).Column("id").Where("s.id = ?", tx.of)
	if err := tx.dialect().forUpdate(q).Scan(ctx, &id); err != nil {
		return fmt.Errorf("lock the keys of shop %d: %w", tx.of, err)
	}
	return nil
}

// Keys returns every key, revoked ones too, oldest first.
func (tx *Tx) Keys(ctx context.Context) ([]access.Key, error) {
	var rows []keyRow
	q := tx.q.NewSelect().Model(&rows).Where("k.shop_id = ?", tx.of).Order("k.created_at", "k.id")
	if err := tx.dialect().forUpdate(q).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read the keys of shop %d: %w", tx.of, err)
	}
	return readRows[access.Key](rows)
}

// PutKey inserts a key whose ID is 0, giving it one, or replaces it under the
// version rule.
func (tx *Tx) PutKey(ctx context.Context, k *access.Key) error {
	made := *k
	made.Shop = tx.of
	err := putOne[keyRow](ctx, tx, &made, func(k *access.Key) (*access.KeyID, *int64) { return &k.ID, &k.Version }, "apiKey", "The key")
	if k.ID == 0 && tx.db.engine.duplicate(err) {
		return fault.Because(fault.Conflict, err, "a key with this value exists already").Entity("apiKey")
	}
	if err != nil {
		return err
	}
	*k = made
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
