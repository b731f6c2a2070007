package sandbox

import (
	"fmt"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	moves "github.com/perennialhq/perennial/internal/domain/moving/mover"
)

// points is the loyalty of both instances for one member.
type points struct {
	*bench

	member int64
}

// change adds points at an instance, or removes some when there are less than 0.
func (p points) change(second bool, by float64) {
	p.t.Helper()
	m := p.Manifest()
	at, key, path := m.Loyalty, m.APIKey, "add-points"
	if second {
		at, key = m.Second.Loyalty, m.Second.APIKey
	}
	if by < 0 {
		path, by = "remove-points", -by
	}
	if status, text := ask(p.t, "POST", at+"/api/external/"+path, key, fmt.Sprintf(`{"customerId":%d,"points":%v}`, p.member, by)); status/100 != 2 {
		p.t.Fatalf("%s: %d %s", path, status, text)
	}
}

// have checks the member's points at both instances.
func (p points) have(when string, first, second float64) {
	p.t.Helper()
	m := p.Manifest()
	if one, other := p.balance(m.Loyalty, m.APIKey, p.member), p.balance(m.Second.Loyalty, m.Second.APIKey, p.member); one != first || other != second {
		p.t.Errorf("%s: %v points at the first service and %v at the second one, want %v and %v", when, one, other, first, second)
	}
}

// begin starts a move of the second instance and has its parts read.
func (p points) begin(to moving.Direction) moving.ID {
	p.t.Helper()
	m := p.Manifest()
	a, of := p.mover()
	move, err := a.Moves.Start(p.t.Context(), of, moves.New{
		Direction: to, By: activity.Operator, Peer: moving.Peer{Address: m.Subscriptions, Memberships: m.Memberships, Loyalty: m.Loyalty, Key: m.APIKey, Rate: 1000},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.advance("PT30M")
	return move.ID
}

// Each point counts once, wherever it was earned or spent: before the points were moved, between that and the next time
// they are, at either service, there and back again. What is repeated adds nothing, in the same move and in another one.
func TestPointsCountOnceThereAndBack(t *testing.T) {
	t.Parallel()
	b := startInline(t, Options{Second: true, MainOnly: true, Contracts: 16, SecondDatabase: file(t)})
	b.unlimit()
	m := b.Manifest()
	p := points{b, m.Examples.LoyaltyCustomer}
	start := b.balance(m.Loyalty, m.APIKey, p.member)

	id := p.begin(moving.In)
	b.makeParts(id)
	p.have("after the first time", start, start)
	p.change(false, 50)
	p.change(false, -20)
	p.change(true, 7)
	p.change(true, -2)
	for range 2 {
		b.makeParts(id)
		p.have("after what was earned and spent at both", start+30, start+35)
	}
	b.forget(id)
	b.makeParts(id)
	p.have("after the move forgot that they were made", start+30, start+35)
	p.change(false, -25)
	b.makeParts(id)
	p.have("after more was spent there", start+5, start+10)
	b.endMove(id)

	id = p.begin(moving.In)
	b.makeParts(id)
	p.have("after another move", start+5, start+10)
	b.endMove(id)

	p.change(false, 1)
	id = p.begin(moving.Out)
	for range 2 {
		b.makeParts(id)
		p.have("on the way back", start+11, start+10)
	}
	p.change(true, 4)
	b.makeParts(id)
	p.have("after more was earned here", start+15, start+14)
	p.change(true, -6)
	b.makeParts(id)
	p.have("after more was spent here", start+9, start+8)
	b.endMove(id)

	id = p.begin(moving.Out)
	b.makeParts(id)
	p.have("after another move back", start+9, start+8)
	b.endMove(id)

	p.change(false, 3)
	id = p.begin(moving.In)
	b.makeParts(id)
	p.have("there once more", start+12, start+12)
}
