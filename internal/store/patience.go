package store

import (
	"context"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// How long a network that swallows what is sent holds a node up: without these it is
// for as long as TCP repeats itself, a quarter of an hour.
const (
	// connectWithin is how long a connection may take to be made where the address
	// does not say.
	connectWithin = 10 * time.Second
	// pongWithin is how long a connection that was idle for a second may take to
	// answer a ping.
	pongWithin = 5 * time.Second
	// answerWithin is how long a statement may take.
	answerWithin = 30 * time.Second
	// silence is how long the other machine may say nothing at all, asked or not.
	silence = 25 * time.Second
)

// patience gives up statements that are not answered in time, and with each its
// connection.
type patience time.Duration

// setOn has every connection of a pool give up in time.
func (p patience) setOn(config *pgxpool.Config) {
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectWithin
	}
	config.PingTimeout = pongWithin
	config.ConnConfig.Tracer = p
	config.ConnConfig.DialFunc = (&net.Dialer{
		Timeout:         config.ConnConfig.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence - 15*time.Second, Interval: 5 * time.Second, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) error {
			if network == "unix" {
				return nil
			}
			return giveUpUnsent(c, silence)
		},
	}).DialContext
}

type (
	// unhurried marks the context of statements that may take as long as they like.
	unhurried struct{}
	inTime    struct{}
)

// withoutHurry lets statements take as long as they like.
func withoutHurry(ctx context.Context) context.Context {
	return context.WithValue(ctx, unhurried{}, true)
}

// TraceQueryStart begins to wait for the answer to a statement.
func (p patience) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if ctx.Value(unhurried{}) != nil {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p))
	return context.WithValue(ctx, inTime{}, cancel)
}

// TraceQueryEnd ends the waiting.
func (patience) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if cancel, ok := ctx.Value(inTime{}).(context.CancelFunc); ok {
		cancel()
	}
}

// TraceBatchStart begins to wait for the answers to statements that are sent together.
func (p patience) TraceBatchStart(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return p.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{})
}

// TraceBatchQuery goes on waiting.
func (patience) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd ends the waiting.
func (p patience) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, _ pgx.TraceBatchEndData) {
	p.TraceQueryEnd(ctx, conn, pgx.TraceQueryEndData{})
}
