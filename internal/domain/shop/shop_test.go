package shop_test

import (
	"os"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/cadence/vectors"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// TestCalendarHasStoreZoneAndOrderTime takes the table of calendar dates
// through the name of a store's zone. The zones are Go's and not the machine's:
// the table was made with them. It must not run beside others, for it says so
// to the whole process.
func TestCalendarHasStoreZoneAndOrderTime(t *testing.T) {
	db, err := vectors.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZONEINFO", db.File)
	f, err := os.Open("../cadence/vectors/" + vectors.SeriesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, version, err := vectors.Read(f, vectors.SeriesFile)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range rows {
		if row.Interval != vectors.Day || row.Count != 1 {
			continue // every day: the dates around changes of the clocks
		}
		store := shop.Shop{Domain: "demo.myshopify.com", TimeZone: row.Place, OrderHour: row.Minute / 60, OrderMinute: row.Minute % 60}
		calendar, err := store.Calendar()
		if err != nil {
			t.Fatal(err)
		}
		daily := cadence.Series{Policy: cadence.Policy{Interval: cadence.Day, Count: 1}, Calendar: calendar, Start: time.Unix(row.Start, 0)}
		if got := daily.Nth(row.N); !got.Equal(row.Want[0]) && version == db.Version {
			t.Errorf("%s at %02d:%02d: got %s, want %s", row.Place, store.OrderHour, store.OrderMinute, got, row.Want[0])
		}
		compared++
	}
	if compared < 2000 {
		t.Errorf("only %d dates were compared", compared)
	}
	if _, err := (shop.Shop{TimeZone: "Atlantis/Capital"}).Calendar(); err == nil {
		t.Error("an unknown zone has a calendar")
	}
}
