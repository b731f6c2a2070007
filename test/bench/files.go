package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/shop"
	wire "github.com/perennialhq/perennial/internal/platform"
)

// goalFiles is how many contracts of a file are read to their report in a second.
const goalFiles = 2000

// files measures how fast the contracts of a CSV file are stored, judged and reported. Two contracts
// each have one customer, named by the e-mail address.
func files(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.filesOn(ctx, kind, s.files); err != nil {
			return fmt.Errorf("%d contracts of a file on %s: %w", s.files, kind, err)
		}
	}
	return nil
}

func (s settings) filesOn(ctx context.Context, kind string, n int) error {
	db, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer db.drop()
	there, err := startPlatform(ctx, stockOptions{Shops: 1, Contracts: (n + 1) / 2, Due: clock.System{}.Now().AddDate(0, 0, 14)})
	if err != nil {
		return err
	}
	defer there.end()
	a, err := app.New(ctx, app.Options{Settings: s.serverSettings(db, there, "127.0.0.1:1"), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer a.Close()
	known, err := a.Intake.Register(ctx, wire.Shop{Domain: shopDomain(0), Token: wire.Token(shopToken(0))}, 9, 0, shop.Settings{})
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := a.Moves.Upload(ctx, known.ID, mover.NewFile{Name: "bench.csv", Body: &contractFile{left: n}, By: activity.Operator})
	if err != nil {
		return err
	}
	if _, err := a.Moves.SetMapping(ctx, known.ID, m.ID, activity.Operator, m.File.Choices); err != nil {
		return err
	}
	stored := time.Since(began)
	var early uint64 // bytes of the heap after the first turn
	var p mover.Progress
	for p.Move.Status != moving.Ready {
		if err := a.Moves.Work(ctx, known.ID); err != nil {
			return err
		}
		if early == 0 {
			early = heap()
		}
		if p, err = a.Moves.Progress(ctx, known.ID, m.ID); err != nil {
			return err
		}
		if p.Move.Failure != "" {
			return fmt.Errorf("the file is %s: %s", p.Move.Status, p.Move.Failure)
		}
	}
	judged := time.Since(began)
	if err := a.Moves.ReportCSV(ctx, known.ID, m.ID, io.Discard); err != nil {
		return err
	}
	took := time.Since(began)
	late := heap()
	if goes := p.ByFit[moving.Goes]; goes != n {
		return fmt.Errorf("%d of %d contracts go: %v", goes, n, p.ByFit)
	}
	s.print("files db=%s n=%d stored_seconds=%.1f judged_seconds=%.1f report_seconds=%.1f per_second=%.0f goal=%d heap_early_mb=%.1f heap_end_mb=%.1f",
		kind, n, stored.Seconds(), (judged - stored).Seconds(), (took - judged).Seconds(), float64(n)/took.Seconds(), goalFiles, float64(early)/(1<<20), float64(late)/(1<<20))
	return nil
}

// contractFile is a CSV file that is made as it is read.
type contractFile struct {
	left, n int // contracts
	rest    []byte
}

// Read reads.
func (f *contractFile) Read(to []byte) (int, error) {
	if f.n == 0 && len(f.rest) == 0 {
		f.rest = []byte("Subscription ID;Email;Next charge date;Billing interval;SKU;Quantity;Price;Address1;City;Zip;Country\n")
	}
	for len(f.rest) < len(to) && f.left > 0 {
		f.rest = fmt.Appendf(f.rest, "S-%d;customer%d@example.com;%s;monthly;%s;2;9,90;Torstr. 1;Berlin;10119;DE\n", f.n, f.n/2, clock.System{}.Now().AddDate(0, 0, 14).Format(time.DateOnly), stockSKU)
		f.n++
		f.left--
	}
	if len(f.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}
