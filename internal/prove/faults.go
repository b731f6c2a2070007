package prove

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind is a way in which the world fails.
type Kind string

// The kinds of faults.
const (
	// On the way to the platform and back.
	CallLost       Kind = "call_lost"       // not executed, no answer
	AnswerLost     Kind = "answer_lost"     // executed, no answer
	CallLate       Kind = "call_late"       // no answer, and executed up to 50 minutes after we gave up
	ErrorBefore    Kind = "error_before"    // HTTP 5xx, not executed
	ErrorAfter     Kind = "error_after"     // HTTP 5xx, executed
	Throttled      Kind = "throttled"       // HTTP 429
	ResetBefore    Kind = "reset_before"    // the connection ends, not executed
	ResetAfter     Kind = "reset_after"     // the connection ends, executed
	AnswerTorn     Kind = "answer_torn"     // executed, half of the answer arrives
	WebhookFirst   Kind = "webhook_first"   // the webhook arrives before the answer
	PlatformOutage Kind = "platform_outage" // for minutes to days from the instant a call executed

	// On the way of webhooks.
	WebhookLost       Kind = "webhook_lost"
	WebhookDuplicated Kind = "webhook_duplicated"
	WebhookLate       Kind = "webhook_late" // minutes to six days
	WebhookReordered  Kind = "webhook_reordered"
	WebhookSilence    Kind = "webhook_silence" // no webhook for so long that the platform removes its subscriptions

	// In the database.
	DatabaseConflict Kind = "database_conflict" // the transaction is given up before it commits
	CommitLost       Kind = "commit_lost"       // it commits and the answer is lost
	DatabaseAway     Kind = "database_away"     // for minutes

	// In clocks, processes and the queue.
	ClockSkew    Kind = "clock_skew"    // the clocks of nodes differ by minutes
	ClockJump    Kind = "clock_jump"    // a node's clock goes forward by hours, and back
	Death        Kind = "death"         // of one node, between any two steps
	DeathOfAll   Kind = "death_of_all"  // of all nodes at once
	ServiceDown  Kind = "service_down"  // no node for hours to days
	NodePaused   Kind = "node_paused"   // for longer than its leases
	QueueEmptied Kind = "queue_emptied" // all tasks that wait are lost
	TaskTwice    Kind = "task_twice"    // a task is carried out twice at the same time
	SweepAtOnce  Kind = "sweep_at_once" // all nodes sweep at the same instant
)

// kinds are the usual rates of the kinds of faults: the chance of each occasion
// or, of those that last, how many begin in a day.
var kinds = map[Kind]float64{
	CallLost: 0.01, AnswerLost: 0.02, CallLate: 0.01, ErrorBefore: 0.01, ErrorAfter: 0.01, Throttled: 0.01, ResetBefore: 0.01, ResetAfter: 0.01, AnswerTorn: 0.01,
	WebhookFirst: 0.03, PlatformOutage: 0.001,
	WebhookLost: 0.05, WebhookDuplicated: 0.05, WebhookLate: 0.05, WebhookReordered: 0.05, WebhookSilence: 0.03,
	DatabaseConflict: 0.01, CommitLost: 0.003, DatabaseAway: 0.1,
	ClockSkew: 0.1, ClockJump: 0.05, Death: 0.0005, DeathOfAll: 0.1, ServiceDown: 0.015, NodePaused: 0.3, QueueEmptied: 0.3, TaskTwice: 0.05, SweepAtOnce: 0.1,
}

// lasting are the lasting kinds and what starts them.
var lasting = map[Kind]func(*world){
	WebhookSilence: func(w *world) {
		w.silent = w.now.Add(w.between(5*time.Hour, 14*time.Hour))
	},
	DatabaseAway: func(w *world) { w.away = w.now.Add(w.between(time.Minute, 40*time.Minute)) },
	ClockSkew: func(w *world) {
		for _, n := range w.nodes {
			n.skew = n.jump + w.between(0, 10*time.Minute) - 5*time.Minute
		}
	},
	ClockJump: func(w *world) {
		n := w.nodes[w.chance.IntN(len(w.nodes))]
		jump, lasts := w.between(time.Hour, farthestJump-10*time.Minute), w.between(time.Minute, 5*time.Hour)
		if n.jump != 0 {
			return // it has not come back from another
		}
		n.jump = jump
		n.skew += jump
		w.stir()
		w.after(lasts, func() { n.skew, n.jump = n.skew-n.jump, 0 })
	},
	DeathOfAll: func(w *world) {
		for _, n := range w.nodes {
			w.kill(n, w.between(time.Second, time.Hour))
		}
	},
	ServiceDown: func(w *world) {
		until := w.between(2*time.Hour, 5*day)
		w.halts = append(w.halts, span{w.now, w.now.Add(until)})
		for _, n := range w.nodes {
			w.kill(n, until)
		}
	},
	NodePaused: func(w *world) {
		if n := w.anyNode(); n != nil {
			n.paused = w.now.Add(w.between(6*time.Minute, 3*time.Hour))
			w.at(n.paused, w.stir)
		}
	},
	QueueEmptied: func(w *world) { w.queue = nil; w.stir() },
}

// farthestJump is how wrong a node's clock can be.
const farthestJump = 12 * time.Hour

// hit reports whether a fault happens now, and counts it.
func (w *world) hit(k Kind) bool {
	if w.calm || !w.roll(w.plan.Rates[k]) {
		return false
	}
	w.counts[k]++
	w.note("fault", string(k))
	return true
}

// brew starts lasting faults now and then.
func (w *world) brew() {
	for _, k := range slices.Sorted(mapsKeys(lasting)) {
		if rate := w.plan.Rates[k]; rate > 0 {
			w.brewOne(k, time.Duration(float64(day)/rate))
		}
	}
}

func (w *world) brewOne(k Kind, mean time.Duration) {
	w.after(time.Duration(w.chance.ExpFloat64()*float64(mean)), func() {
		if w.calm {
			return
		}
		w.counts[k]++
		w.note("fault", string(k))
		lasting[k](w)
		w.brewOne(k, mean)
	})
}

// soothe ends every fault: what is broken now must be repaired.
func (w *world) soothe() {
	w.calm = true
	w.out, w.away, w.silent, w.cut = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	for _, n := range w.nodes {
		n.skew, n.jump, n.paused = 0, 0, time.Time{}
		if n.app == nil {
			w.check(n.start())
		}
		w.sweepOn(n)
	}
	w.note("calm")
	w.stir()
}

// What a node sees of faults.
var (
	errAway       = errors.New("the database is away")
	errCommitLost = errors.New("the connection to the database was lost before it answered the commit")
	errRefused    = errors.New("connection refused")
	errReset      = errors.New("connection reset by peer")
)

// timeout is a call that took too long.
func (w *world) timeout() (*http.Response, error) {
	w.sleep(callTimeout)
	return nil, fmt.Errorf("no answer within %s: %w", callTimeout, context.DeadlineExceeded)
}

// carry brings a call to the platform and its answer back, as the seed has it.
func (w *world) carry(c *call) (*http.Response, error) {
	w.sleep(w.between(2*time.Millisecond, 80*time.Millisecond))
	switch {
	case w.out.After(w.now):
		if w.roll(0.5) {
			return nil, errRefused
		}
		return w.timeout()
	case w.hit(CallLost):
		return w.timeout()
	case w.hit(CallLate):
		w.after(callTimeout+w.between(0, 50*time.Minute), func() { w.ask(c) }) //nolint:bodyclose // it is in memory
		return w.timeout()
	case w.hit(ErrorBefore):
		return answer(500+w.chance.IntN(5), nil, []byte("<html>")), nil
	case w.hit(Throttled):
		return answer(http.StatusTooManyRequests, nil, nil), nil
	case w.hit(ResetBefore):
		return nil, errReset
	}
	res, body := w.ask(c)
	switch {
	case c.changes() && w.hit(PlatformOutage):
		w.out = w.now.Add(drawer{w.chance}.spread(2*time.Minute, 44*time.Hour))
		w.halts = append(w.halts, span{w.now, w.out})
		w.lossy = w.roll(0.5)
		return w.timeout()
	case w.hit(AnswerLost):
		return w.timeout()
	case w.hit(ErrorAfter):
		return answer(500+w.chance.IntN(5), nil, nil), nil
	case w.hit(ResetAfter):
		return nil, errReset
	case w.hit(AnswerTorn):
		return answer(http.StatusOK, res.Header, body[:len(body)/2]), nil
	case c.changes() && w.hit(WebhookFirst):
		w.sleep(w.between(3*time.Second, callTimeout-time.Second))
	}
	w.sleep(w.between(2*time.Millisecond, 80*time.Millisecond))
	return res, nil
}

// changes reports whether the call is more than a question.
func (c *call) changes() bool {
	return strings.Contains(string(c.body[:min(len(c.body), 200)]), "mutation")
}

// webhook brings a webhook to a node, as the seed has it. What the platform
// believes was delivered it does not send again.
func (w *world) webhook(r *http.Request, body []byte) (*http.Response, error) {
	done := func() (*http.Response, error) { return answer(http.StatusOK, nil, nil), nil }
	later := func(d time.Duration) {
		w.after(d, func() { _, _ = w.hand(r, body) }) //nolint:bodyclose // it is in memory
	}
	switch {
	case w.silent.After(w.now):
		return nil, errRefused
	case w.out.After(w.now):
		if w.lossy {
			return done()
		}
		return nil, errRefused
	case w.hit(WebhookLost):
		return done()
	case w.hit(WebhookDuplicated):
		for range 1 + w.chance.IntN(4) {
			later(w.between(0, time.Hour))
		}
	case w.hit(WebhookLate):
		later(drawer{w.chance}.spread(time.Minute, 6*day))
		return done()
	case w.hit(WebhookReordered):
		later(w.between(10*time.Second, 10*time.Minute))
		return done()
	}
	return w.hand(r, body)
}

// databaseFault says how a transaction fares.
func (w *world) databaseFault() Kind {
	switch {
	case w.away.After(w.now):
		return DatabaseAway
	case w.hit(DatabaseConflict):
		return DatabaseConflict
	case w.hit(CommitLost):
		return CommitLost
	}
	return ""
}

// mayDie lets the process of a fiber that is about to go on die instead.
func (w *world) mayDie(f *fiber) bool {
	if !w.hit(Death) {
		return false
	}
	w.kill(f.node, drawer{w.chance}.spread(time.Second, 2*time.Hour))
	return true
}

// kill ends a node's process and has it started again after a while.
func (w *world) kill(n *node, away time.Duration) {
	if n.app == nil {
		return
	}
	n.die()
	w.deaths++
	w.after(away, func() {
		if n.app == nil && w.err == nil {
			w.check(n.start())
			w.sweepOn(n)
		}
	})
}
