package parts

import (
	"context"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// readAtOnce is how many members a step reads.
const readAtOnce = 32

// list reads a page of a list. What a page has whole is judged.
func (j *job) list(ctx context.Context, of list, p *moving.Parts) error {
	page, err := j.source().Parts(ctx, j.store, of.kind, of.line, p.Page)
	if err != nil && passing(err) {
		return err
	}
	if err != nil {
		page = moving.PartPage{Parts: []moving.Part{j.unreadable(of, err)}}
	}
	earlier, err := j.earlier(ctx, page.Parts)
	if err != nil {
		return err
	}
	fresh := 0
	var whole, unread []moving.Part
	for _, part := range page.Parts {
		was, is := earlier[part.PartKey]
		if !is || was.SeenAt.Before(p.BeganAt) {
			fresh++
		}
		part.Move, part.SeenAt = j.move.ID, j.now
		switch {
		case part.Unread:
			part.Stage = moving.PartFound
			unread = append(unread, part)
		case part.There == "":
			whole = append(whole, part)
		default:
			part, err := j.judged(ctx, was, part)
			if err != nil {
				return err
			}
			whole = append(whole, part)
		}
	}
	if p.Page++; !page.More || fresh == 0 { // a service that ignores the page lists the first one for ever
		p.Source, p.Page = p.Source+1, 0
	}
	return j.Store.Update(ctx, j.store.ID, func(tx moving.Tx) error {
		if err := tx.ListMoveParts(ctx, unread); err != nil {
			return err
		}
		return tx.PutMoveParts(ctx, whole)
	})
}

// earlier returns those of some parts that the move has.
func (j *job) earlier(ctx context.Context, parts []moving.Part) (map[moving.PartKey]moving.Part, error) {
	has := map[moving.PartKey]moving.Part{}
	if len(parts) == 0 {
		return has, nil
	}
	match := moving.PartMatch{Kind: parts[0].Kind}
	for _, p := range parts {
		match.There = append(match.There, p.There)
	}
	err := j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) error {
		list, err := tx.MoveParts(ctx, j.move.ID, match, moving.PartKey{}, 2*len(parts)) // of both lines
		for _, p := range list {
			has[p.PartKey] = p
		}
		return err
	})
	return has, err
}

// unreadable says that the parts of a list cannot be read.
func (j *job) unreadable(of list, err error) moving.Part {
	why := "The other service has no list of them."
	if of.kind == moving.ProfilePart {
		why = "The interface lists no delivery profiles."
	} else if !fault.Is(err, fault.NotFound) {
		text, _ := refusal(err)
		why = strings.ToUpper(text[:1]) + text[1:] + "."
	}
	_, come := j.move.Places()
	p := moving.Part{PartKey: moving.PartKey{Kind: of.kind, Line: of.line}, Stage: moving.PartStaying}
	p.Judge([]moving.Finding{{Fit: moving.Stays, Code: "kindUnreadable", Text: why + " Set them up " + come + "."}})
	return p
}

// judged returns a part as it was read now, with what is known of it from before.
func (j *job) judged(ctx context.Context, was, is moving.Part) (moving.Part, error) {
	is.Stage, is.Here, is.Plans, is.BegunAt, is.MadeAt, is.Filed = was.Stage, was.Here, was.Plans, was.BegunAt, was.MadeAt, was.Filed
	if is.Data.Member != nil {
		is.Data.Member.Carry(was.Data.Member)
		if is.Stage == moving.PartMade && !is.Filed && j.maker(is.Kind).changed(was.Data, is.Data) != "" {
			is.Stage = moving.PartReady // its points follow
		}
	}
	if is.Stage == moving.PartMade {
		kept := was.Data
		var findings []moving.Finding
		for _, f := range was.Findings {
			if f.Code != changedThere {
				findings = append(findings, f)
			}
		}
		left, come := j.move.Places()
		if what := j.maker(is.Kind).changed(was.Data, is.Data); what != "" {
			findings = append(findings, moving.Finding{Fit: moving.Changes, Code: changedThere, Text: fmt.Sprintf("It is not what it was %s when it was made %s: %s. Change it %s by hand.", left, come, what, come)})
		}
		is.Data = kept
		is.Judge(findings)
		return is, nil
	}
	findings, err := j.maker(is.Kind).judge(ctx, j, is)
	if err != nil {
		return is, err
	}
	is.Judge(findings)
	return is, nil
}

// read reads a batch of members that were listed. When none is left, all were read, and what was not
// listed again is gone.
func (j *job) read(ctx context.Context, p *moving.Parts) error {
	var batch []moving.Part
	err := j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) (err error) {
		batch, err = tx.MoveParts(ctx, j.move.ID, moving.PartMatch{Unread: true}, moving.PartKey{}, readAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	if err := j.know(ctx, batch); err != nil {
		return err
	}
	for n, part := range batch {
		if batch[n], err = j.readMember(ctx, part); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		p.ReadAt = j.now
	}
	return j.Store.Update(ctx, j.store.ID, func(tx moving.Tx) error {
		if len(batch) == 0 {
			return tx.DropMoveParts(ctx, j.move.ID, p.BeganAt)
		}
		return tx.PutMoveParts(ctx, batch)
	})
}

// readMember reads a member that was listed.
func (j *job) readMember(ctx context.Context, part moving.Part) (moving.Part, error) {
	member, err := j.source().Member(ctx, j.store, part.Customer)
	switch {
	case err == nil:
		is := part
		is.Data, is.Name = moving.PartData{Member: &member}, strings.TrimSpace(member.FirstName+" "+member.LastName)
		return j.judged(ctx, part, is)
	case passing(err):
		return part, err
	case part.Stage == moving.PartMade:
		part.Unread = false
		return part, nil
	}
	text, _ := refusal(err)
	part.Judge([]moving.Finding{{Fit: moving.Stays, Code: "memberUnreadable", Text: "The member cannot be read: " + text + "."}})
	return part, nil
}
