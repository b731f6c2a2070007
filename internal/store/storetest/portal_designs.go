package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

func testPortalDesigns(t *testing.T, open opener) {
	w := begin(t, open)
	neighbour := shop.Shop{Domain: "neighbour.myshopify.com", Token: "shpat_x", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: day}
	if err := w.db.Shops().AddShop(t.Context(), &neighbour); err != nil {
		t.Fatal(err)
	}
	want := func(wanted design.Design) {
		t.Helper()
		var got design.Design
		err := w.db.PortalDesigns().View(t.Context(), w.shop.ID, func(tx design.ReadTx) (err error) {
			got, err = tx.PortalDesign(t.Context())
			return err
		})
		if diff := cmp.Diff(wanted, got); err != nil || diff != "" {
			t.Errorf("the design: %v\n%s", err, diff)
		}
	}
	want(design.Design{})
	first := design.Design{
		Colour: "#c2185b", Corners: design.Round, Font: design.Theme, InTheme: true, Logo: design.Logo{Hash: "aa", Width: 512, Height: 128, Alt: "<b>Tee & mehr"}, UpdatedAt: day,
	}
	late := first
	pictures := []design.Picture{{Hash: "aa", PNG: []byte("\x89PNG\x00one")}, {Hash: "bb", PNG: []byte("two")}, {Hash: "cc", PNG: []byte("three")}}
	w.in(func(tx *store.Tx) error {
		for _, p := range append(pictures, pictures[0]) {
			if err := tx.AddPortalLogo(t.Context(), p); err != nil {
				return err
			}
		}
		return tx.PutPortalDesign(t.Context(), &first)
	})
	if first.Version != 1 {
		t.Errorf("the version is %d", first.Version)
	}
	want(first)

	err := w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutPortalDesign(t.Context(), &late) })
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a design over one that has changed: %v", err)
	}
	second := first
	second.Colour, second.Logo = "", design.Logo{}
	w.in(func(tx *store.Tx) error {
		if err := tx.DeletePortalLogos(t.Context(), []string{"", "bb", "cc"}); err != nil {
			return err
		}
		return tx.PutPortalDesign(t.Context(), &second)
	})
	want(second)

	logo := func(of shop.ID, hash, wanted string) {
		t.Helper()
		err := w.db.PortalDesigns().View(t.Context(), of, func(tx design.ReadTx) error {
			got, err := tx.PortalLogo(t.Context(), hash)
			if string(got) != wanted {
				t.Errorf("logo %s of %d is %q, want %q", hash, of, got, wanted)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	logo(w.shop.ID, "aa", "")
	logo(w.shop.ID, "bb", "two")
	logo(neighbour.ID, "bb", "")
	err = w.db.Update(t.Context(), neighbour.ID, func(tx *store.Tx) error { return tx.DeletePortalLogos(t.Context(), nil) })
	if err != nil {
		t.Error(err)
	}
	logo(w.shop.ID, "cc", "three")
}
