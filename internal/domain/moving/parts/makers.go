package parts

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/moving"
)

// maker judges and makes parts of one kind.
type maker interface {
	// judge returns what of a part is not carried over as it is.
	judge(ctx context.Context, j *job, p moving.Part) ([]moving.Finding, error)
	// make makes a part where it goes, unless it is there, and notes its number. Where the last attempt was
	// interrupted, it finds what that one made.
	make(ctx context.Context, j *job, p *moving.Part) error
	// changed returns what was changed in the data of a part that is made, since it was; empty: nothing.
	changed(was, is moving.PartData) string
}

// makers make parts here, and senders at the other service.
var makers = map[moving.PartKind]maker{
	moving.GroupPart: groups{}, moving.RulePart: rules{}, moving.BundlePart: bundles{}, moving.MemberPart: members{}, moving.CustomerPart: customers{},
}

var senders = map[moving.PartKind]maker{
	moving.GroupPart: sent{groups{}}, moving.RulePart: sent{rules{}}, moving.BundlePart: sent{bundles{}}, moving.MemberPart: sentMembers{},
}

// maker returns what makes parts of a kind where they go.
func (j *job) maker(kind moving.PartKind) maker {
	if j.move.Direction == moving.Out {
		return senders[kind]
	}
	return makers[kind]
}
