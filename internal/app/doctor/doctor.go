// Package doctor checks whether an installation can do its work, and says what to do
// where it cannot. It changes nothing but the row with which it tries whether the
// database can be written to.
package doctor

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/maildns"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// checkTime is the longest time of one check, except of one that reads the whole database.
const checkTime = 20 * time.Second

// check is one check. Either field is set: run checks the installation, and each one store.
type check struct {
	name    string
	run     func(ctx context.Context, c *checkup) Finding
	each    func(ctx context.Context, c *checkup, s shop.Shop) Finding
	data    bool // needs the database
	current bool // needs its schema too
	slow    bool // may take longer than checkTime
}

// checks lists all of them, in the order in which they are printed.
var checks = []check{
	{name: "settings", run: settings},
	{name: "database", run: reachable},
	{name: "database schema", run: migrated, data: true},
	{name: "database writing", run: writable, data: true, current: true},
	{name: "database files", run: intact, data: true, slow: true},
	{name: "database separation", run: separated, data: true, current: true},
	{name: "disk space", run: room},
	{name: "backups", run: backups},
	{name: "queue", run: queue, data: true, current: true},
	{name: "webhook inbox", run: inbox, data: true, current: true},
	{name: "clock", run: databaseClock, data: true},
	{name: "clock and platform", run: platformClock, data: true, current: true},
	{name: "public address", run: address},
	{name: "mail server", run: mailServer},
	{name: "mail SPF", run: dns(maildns.SPF)},
	{name: "mail DKIM", run: dns(maildns.DKIM)},
	{name: "mail DMARC", run: dns(maildns.DMARC)},
	{name: "mail MX", run: dns(maildns.MX)},
	{name: "SMS provider", run: smsProvider},
	{name: "connection", each: connection},
	{name: "token", each: token},
	{name: "scopes", each: scopes},
	{name: "webhooks", each: subscriptions},
	{name: "portal proxy", each: proxy},
	{name: "charges", each: charges},
	{name: "personal data", each: personalData},
	{name: "contracts", each: contracts},
	{name: "books", each: books},
}

// Run makes all checks.
func Run(ctx context.Context, o Options) []Finding {
	c := newCheckup(o)
	db, opening := o.Open(ctx)
	current := false
	if opening == nil {
		c.opened(db)
		defer db.Close()
		missing, err := pending(ctx, db)
		current = err == nil && missing == 0
	}
	var findings []Finding
	var stores []shop.Shop
	if current {
		var err error
		if stores, err = db.Shops().All(ctx); err != nil {
			findings = append(findings, Finding{Check: "stores", State: Failed, Found: err.Error(), Do: "repair the database, then run perennial doctor again"})
		}
	}
	for _, k := range checks {
		switch {
		case k.each != nil:
		case k.data && c.db == nil:
			findings = append(findings, notChecked("the database could not be opened").of(k.name, ""))
		case k.current && !current:
			findings = append(findings, notChecked("the database lacks migrations").of(k.name, ""))
		case k.name == "database" && opening != nil:
			findings = append(findings, unopened(opening).of(k.name, ""))
		default:
			findings = append(findings, k.timed(ctx, func(ctx context.Context) Finding { return k.run(ctx, c) }).of(k.name, ""))
		}
	}
	for _, s := range stores {
		for _, k := range checks {
			if k.each != nil {
				findings = append(findings, k.timed(ctx, func(ctx context.Context) Finding { return k.each(ctx, c, s) }).of(k.name, s.Domain))
			}
		}
	}
	return findings
}

// timed runs a check within its time.
func (k check) timed(ctx context.Context, run func(context.Context) Finding) Finding {
	if k.slow {
		return run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return run(ctx)
}
