package amend

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// Show is Detail after a change: when the platform does not answer, it returns the
// contract as it is stored.
func (ed *Editor) Show(ctx context.Context, of shop.ID, cmd Command) (contract.Detail, error) {
	cmd.Permit = nil // it was for the change
	d, err := ed.detail(ctx, of, cmd)
	if fault.Is(err, fault.Unavailable) {
		_, known, failed := ed.Load(ctx, of, cmd)
		return contract.Detail{Contract: known}, failed
	}
	return d, err
}

// Details returns stored contracts with the platform's details. While the platform does
// not answer, and for contracts that it no longer has, it returns them as they are
// stored.
func (ed *Editor) Details(ctx context.Context, of shop.ID, known []contract.Contract) ([]contract.Detail, error) {
	shown, err := ed.platformDetails(ctx, of, known)
	if err != nil && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.FailedPrecondition) {
		return nil, err
	}
	details := make([]contract.Detail, len(known))
	for i, c := range known {
		details[i] = contract.Detail{Contract: c}
		if d, ok := shown[int64(c.ID)]; ok {
			details[i] = contract.DetailOf(c, d)
		}
	}
	return details, nil
}

// platformDetails reads contracts at the platform, by id.
func (ed *Editor) platformDetails(ctx context.Context, of shop.ID, known []contract.Contract) (map[int64]platform.Detail, error) {
	store, err := ed.ConnectedShop(ctx, of)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	ids := make([]int64, len(known))
	for i, c := range known {
		ids[i] = int64(c.ID)
	}
	is, err := ed.Platform.Details(platform.Interactive(ctx), store.At(), ids)
	if err != nil {
		return nil, PlatformError(err)
	}
	shown := make(map[int64]platform.Detail, len(is))
	for _, d := range is {
		shown[d.ID] = d
	}
	return shown, nil
}

// DetailOrStored returns a contract for webhooks: with the platform's details or, when
// the platform no longer has the contract or the store is disconnected, as it is stored.
func (ed *Editor) DetailOrStored(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error) {
	store, known, err := ed.Load(ctx, of, Command{Line: line, Contract: id})
	if err == nil {
		var is platform.Detail
		if is, err = ed.Platform.Detail(ctx, store.At(), int64(id)); err == nil {
			return contract.DetailOf(known, is), nil
		}
		err = PlatformError(err)
	}
	if known.ID != 0 && !fault.Is(err, fault.Unavailable) {
		return contract.Detail{Contract: known}, nil
	}
	return contract.Detail{}, err
}

// Detail returns a contract with the platform's details.
func (ed *Editor) Detail(ctx context.Context, of shop.ID, line shop.Line, id contract.ID) (contract.Detail, error) {
	return ed.detail(ctx, of, Command{Line: line, Contract: id})
}

func (ed *Editor) detail(ctx context.Context, of shop.ID, cmd Command) (contract.Detail, error) {
	ctx = platform.Interactive(ctx)
	store, known, err := ed.Load(ctx, of, cmd)
	if err != nil {
		return contract.Detail{}, err
	}
	is, err := ed.Platform.Detail(ctx, store.At(), int64(cmd.Contract))
	if err != nil {
		return contract.Detail{}, PlatformError(err)
	}
	return contract.DetailOf(known, is), nil
}
