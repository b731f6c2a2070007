package parts

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// bundles moves the settings of boxes. A bundle is found here by a plan that it has, for a plan has one
// bundle at most, and one without plans by all of its settings.
type bundles struct{}

func (bundles) judge(_ context.Context, _ *job, p moving.Part) (list []moving.Finding, err error) {
	f := (*moving.Findings)(&list)
	if err := p.Data.Bundle.Check(); err != nil {
		text, _ := refusal(err)
		f.Add(moving.Stays, "bundleInvalid", "", "The bundle cannot be made here: %s.", text)
	}
	if _, fields := p.Data.Bundle.Supported(); len(fields) > 0 {
		f.Add(moving.Changes, "notSupported", fields[0], "Nothing follows from these settings here, so they get their defaults: %s.", strings.Join(fields, ", "))
	}
	return list, nil
}

func (bundles) make(ctx context.Context, j *job, p *moving.Part) error {
	wanted, _ := p.Data.Bundle.Supported()
	wanted.ID, wanted.Line, wanted.Version = 0, line(*p), 0
	var err error
	if wanted.Plans, err = j.plansOfBundle(ctx, p); err != nil {
		return err
	}
	f := (*moving.Findings)(&p.Findings)
	had, _, err := j.Shelf.Bundles(ctx, j.store.ID, wanted.Line, page.Request{Size: bundle.MaxBundles})
	if err != nil {
		return err
	}
	made, err := j.made(ctx, moving.BundlePart)
	if err != nil {
		return err
	}
	for _, b := range had {
		taken := slices.ContainsFunc(made, func(o moving.Part) bool { return o.Here == int64(b.ID) })
		shares := slices.ContainsFunc(wanted.Plans, func(plan int64) bool { return slices.Contains(b.Plans, plan) })
		switch {
		case taken || !shares && (len(wanted.Plans) > 0 || !sameBundle(b, wanted)):
		case !sameBundle(b, wanted) && !p.Has("bundleTaken"):
			f.Add(moving.Changes, "bundleTaken", "sellingPlanIds", "A bundle with one of its plans exists here: it is taken as it is.")
			fallthrough
		default:
			p.Here = int64(b.ID)
			p.Judge(p.Findings)
			return nil
		}
	}
	b, err := j.Bundles.Create(ctx, j.store.ID, wanted, activity.System)
	p.Here = int64(b.ID)
	p.Judge(p.Findings)
	return err
}

func (bundles) changed(was, is moving.PartData) string {
	if was.Bundle == nil || is.Bundle == nil || sameBundle(*was.Bundle, *is.Bundle) {
		return ""
	}
	return "its settings"
}

// sameBundle reports whether two bundles have the same settings and plans.
func sameBundle(a, b bundle.Settings) bool {
	for _, s := range []*bundle.Settings{&a, &b} {
		s.ID, s.Line, s.Version, s.CreatedAt, s.UpdatedAt = 0, "", 0, time.Time{}, time.Time{}
		s.Plans = slices.Sorted(slices.Values(s.Plans))
		if len(s.Custom) == 0 {
			s.Custom = nil
		}
		if len(s.Pricing.Tiers) == 0 {
			s.Pricing.Tiers = nil
		}
		if len(s.Rules.CategoryLimits) == 0 {
			s.Rules.CategoryLimits = nil
		}
	}
	return reflect.DeepEqual(a, b)
}
