package letters

import (
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// rewardsPath is the path of the screen of points and rewards.
const rewardsPath = "/rewards"

// news is what a letter reports to a loyalty member.
type news struct {
	loyalty.Notice

	kind  notify.Kind
	day   time.Time // on which points were earned
	visit portal.Visit
}

// amount writes a number of points.
func (n news) amount(points loyalty.Points) string {
	return words.Points(n.visit, n.Program.Terms, points)
}

// member is about a loyalty member.
func (p *page) member(n news) {
	v := n.visit
	switch n.kind {
	case notify.PointsEarned:
		p.earned(n)
	case notify.PointsExpiring:
		p.expiring(n)
	case notify.TierReached:
		p.tier(n)
	case notify.RewardIssued:
		p.reward(n)
	case notify.Birthday:
		p.title(v, "mail.birthdayGift", "points", n.amount(n.Points()))
		p.say(v.T("mail.birthdayGift.text", "points", n.amount(n.Points())))
		p.pending(n)
	}
	p.Button = &anchor{v.T("mail.rewards"), at(v, rewardsPath)}
	if !n.Program.Active {
		p.Button = &anchor{v.T("mail.link.button"), at(v, "")} // there is no screen of rewards
	}
}

// earned is about the points of a day.
func (p *page) earned(n news) {
	v := n.visit
	p.title(v, "mail.earned", "points", n.amount(n.Points()))
	p.say(v.T("mail.earned.text", "day", v.Day(n.day)))
	is := order{Panel: &panel{Label: v.T("rewards.balance"), Big: n.amount(n.Sums.Available)}}
	for _, g := range n.Gains {
		name := g.Description
		if name == "" {
			name = v.T("rewards.move.earned")
		}
		is.Bill = append(is.Bill, portal.Sum{Name: name, Amount: "+" + n.amount(g.Points)})
	}
	p.Orders = append(p.Orders, is)
	p.pending(n)
}

// pending says how many of the points cannot be spent yet.
func (p *page) pending(n news) {
	if waits := n.Pending(); waits > 0 {
		p.add(n.visit.T("mail.earned.pending", "points", n.amount(waits)), nil)
	}
}

// expiring is about points that expire.
func (p *page) expiring(n news) {
	v, list := n.visit, n.Expiring
	all, first := n.amount(n.Points()), v.Day(list[0].At)
	p.title(v, "mail.expiring", "points", all)
	is := order{Panel: &panel{Label: v.T("rewards.expiring"), Big: all, Small: first}}
	if len(list) == 1 {
		p.say(v.T("mail.expiring.text", "day", first))
	} else {
		p.say(v.T("mail.expiring.many", "day", first))
		is.Panel.Small = ""
		for _, e := range list {
			is.Bill = append(is.Bill, portal.Sum{Name: v.Day(e.At), Amount: n.amount(e.Points)})
		}
	}
	p.Orders = append(p.Orders, is)
}

// tier is about a level that the member has reached.
func (p *page) tier(n news) {
	v := n.visit
	p.title(v, "mail.tier", "tier", n.Tier.Name)
	p.say(v.T("mail.tier.text", "points", n.amount(n.Sums.Earned)))
	if n.Next == nil {
		p.say(v.T("rewards.tier.highest", "tier", n.Tier.Name))
		return
	}
	p.say(v.T("rewards.tier.next", "tier", n.Tier.Name, "left", n.amount(n.Next.Points-n.Sums.Earned), "next", n.Next.Name))
}

// reward is about a discount code or store credit.
func (p *page) reward(n news) {
	v, r := n.visit, n.Reward
	p.title(v, "mail.reward", "reward", r.Description)
	if r.Type == loyalty.StoreCredit {
		p.say(v.T("mail.reward.credit", "amount", v.Words.Money(r.Value)))
	} else {
		p.say(v.T("mail.reward.code"))
		code := &panel{Label: v.T("mail.reward.label"), Big: r.Code}
		if !r.ExpiresAt.IsZero() {
			code.Small = v.T("rewards.code.until", "day", v.Day(r.ExpiresAt))
		}
		p.Orders = append(p.Orders, order{Panel: code})
	}
	p.add(v.T("mail.reward.cost", "points", n.amount(r.Points), "balance", n.amount(n.Sums.Available)), nil)
}

// values returns what templates may name of a member. What a letter has no value for is nil.
func (n news) values() map[string]any {
	values := noPoints()
	values["balance"] = n.amount(n.Sums.Available)
	if sum := n.Points(); sum > 0 {
		values["points"] = n.amount(sum)
	}
	if len(n.Expiring) > 0 {
		values["expires_on"] = n.visit.Day(n.Expiring[0].At)
	}
	if n.Tier != nil {
		values["tier"] = n.Tier.Name
	}
	if n.Reward.ID != 0 {
		values["reward"] = n.Reward.Description
	}
	if n.Reward.Code != "" {
		values["code"] = n.Reward.Code
	}
	return values
}

// noPoints are the values of a letter that is about no member.
func noPoints() map[string]any {
	return map[string]any{"balance": nil, "points": nil, "expires_on": nil, "tier": nil, "reward": nil, "code": nil}
}

// sampleNotice returns what a made-up member may be sent; nil for kinds that are not about points.
func sampleNotice(v portal.Visit, kind notify.Kind) *loyalty.Notice {
	const day = 24 * time.Hour
	terms := loyalty.DefaultTerms()
	terms.Tiers = []loyalty.Tier{{ID: 1, Name: "Oak", Points: 500 * loyalty.One}, {ID: 2, Name: "Cedar", Points: 2000 * loyalty.One}}
	n := &loyalty.Notice{Program: loyalty.Program{Active: true, Terms: terms}, Tier: &terms.Tiers[0], Next: &terms.Tiers[1]}
	n.Sums.Available, n.Sums.Earned = 640*loyalty.One, 1240*loyalty.One
	switch kind {
	case notify.PointsEarned:
		n.Gains = []loyalty.Gain{{Description: terms.Earn[0].Name + " (#1042)", Points: 25 * loyalty.One}, {Description: terms.Earn[1].Name + " (#1043)", Points: 40 * loyalty.One, Pending: true}}
	case notify.PointsExpiring:
		n.Expiring = []loyalty.ExpiringPoints{{At: v.Now.Add(30 * day), Points: 120 * loyalty.One}}
	case notify.RewardIssued:
		n.Reward = loyalty.Reward{
			ID: 1, Type: loyalty.DiscountCode, State: loyalty.Issued, Code: "LOYAL-7QK2M9XD4T", Description: terms.Redeem[0].Name, Points: terms.Redeem[0].Points,
			Value: money.Amount{Minor: 500, Currency: v.Shop.Currency}, ExpiresAt: v.Now.Add(90 * day),
		}
	case notify.Birthday:
		n.Gains = []loyalty.Gain{{Points: 50 * loyalty.One}}
	case notify.TierReached:
	default:
		return nil
	}
	return n
}
