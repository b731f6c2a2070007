package web

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Caller is who makes a request.
type Caller struct {
	Key   access.Key
	Shop  shop.Shop
	Actor activity.Actor
}

type (
	callerKey struct{}
	appKey    struct{}
)

// CallerOf returns who makes the request that the context belongs to. It is set
// for every operation of an audience whose callers have keys or are shoppers, who
// have none.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

// AppOf returns the application that makes the request. It is set for every
// operation of an audience of applications.
func AppOf(ctx context.Context) partner.App {
	app, _ := ctx.Value(appKey{}).(partner.App)
	return app
}

// DayOrInstant reads an instant, or the beginning of a day of the caller's store; zero when the
// value is empty.
func (c Caller) DayOrInstant(param, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	cal, err := c.Shop.Calendar()
	if err != nil {
		return time.Time{}, err
	}
	m, err := ParseMoment(param, value, cal.Zone)
	return m.From, err
}

// OrderDate reads the date of an order. A day without a time is that day of the
// caller's store, at its order time.
func (c Caller) OrderDate(param, value string) (time.Time, error) {
	cal, err := c.Shop.Calendar()
	if err != nil {
		return time.Time{}, err
	}
	m, err := ParseMoment(param, value, cal.Zone)
	if err != nil {
		return time.Time{}, err
	}
	if m.IsDay {
		return cal.Local(m.Day), nil
	}
	return m.From, nil
}
