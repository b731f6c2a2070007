package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
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
	CreatedAt    int64
	LastUsedAt   int64
	RevokedAt    int64
	Version      int64

	Shop *shopRow `bun:"rel:belongs-to,join:shop_id=id"` // only where it is asked for
}

func scopesText(scopes []access.Scope) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}

func scopesOf(text string) []access.Scope {
	var scopes []access.Scope
	for _, scope := range strings.Fields(text) {
		scopes = append(scopes, access.Scope(scope))
	}
	return scopes
}

// hashOf reads a hash. An empty text is the zero hash.
func hashOf(text string) (h access.Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 0 && copy(h[:], raw) != len(h) {
		return h, fault.New(fault.Internal, "a hash in the database is damaged")
	}
	return h, nil
}

func hashText(h access.Hash) string { return hex.EncodeToString(h[:]) }

func (r keyRow) key() (access.Key, error) {
	k := access.Key{
		ID: access.KeyID(r.ID), Shop: shop.ID(r.ShopID), Name: r.Name, Hint: r.Hint,
		Scopes: scopesOf(r.Scopes), App: access.AppID(r.App), Connection: r.ConnectionID,
		CreatedAt: instant(r.CreatedAt), LastUsedAt: instant(r.LastUsedAt), RevokedAt: instant(r.RevokedAt), Version: r.Version,
	}
	var err error
	if k.Hash, err = hashOf(r.Hash); err != nil {
		return access.Key{}, fmt.Errorf("read key %d: %w", r.ID, err)
	}
	return k, nil
}

func keyRowOf(of shop.ID, k access.Key) keyRow {
	return keyRow{
		ShopID: int64(of), ID: int64(k.ID), Name: k.Name, Hint: k.Hint, Hash: hashText(k.Hash), Scopes: scopesText(k.Scopes), App: string(k.App), ConnectionID: k.Connection,
		CreatedAt: millis(k.CreatedAt), LastUsedAt: millis(k.LastUsedAt), RevokedAt: millis(k.RevokedAt), Version: k.Version,
	}
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
	keys := make([]access.Key, len(rows))
	for i, r := range rows {
		var err error
		if keys[i], err = r.key(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// PutKey inserts a key whose ID is 0, giving it one, or replaces it under the
// version rule.
func (tx *Tx) PutKey(ctx context.Context, k *access.Key) error {
	if k.ID != 0 {
		n, err := update(ctx, tx, []keyRow{keyRowOf(tx.of, *k)})
		if err == nil && n != 1 {
			err = changed("apiKey", "The key")
		}
		if err == nil {
			k.Shop = tx.of
			k.Version++
		}
		return err
	}
	id, err := tx.db.ids.take(1)
	if err != nil {
		return err
	}
	made := *k
	made.ID, made.Shop, made.Version = access.KeyID(id), tx.of, 1
	if _, err := insert(ctx, tx, []keyRow{keyRowOf(tx.of, made)}, ""); err != nil {
		if tx.db.engine.duplicate(err) {
			return fault.Because(fault.Conflict, err, "a key with this value exists already").Entity("apiKey")
		}
		return err
	}
	*k = made
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
