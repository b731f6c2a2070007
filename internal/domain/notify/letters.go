package notify

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Write writes the letter that reports messages of one kind of subject to one person, in the person's
// language, from what holds now. The messages have facts.
type Write func(ctx context.Context, of shop.ID, messages []Message) (Letter, error)

// bundle are the messages of a batch that go into one letter.
type bundle struct {
	messages []Message
	letter   Letter
	mailID   string // local part of the Message-ID; empty: it is not sent
}

// sent returns the messages that the letter reports.
func (b bundle) sent() bool { return len(b.letter.LeftOut) < len(b.messages) }

// bundled puts messages into bundles: those of one person that belong together are in one, in
// the order of their ids.
func bundled(messages []Message) []*bundle {
	type key struct {
		by Channel
		to string
		of grouping
		on int64 // the contract of changes
	}
	open := map[key]*bundle{}
	var list []*bundle
	for _, m := range messages {
		k := key{m.Channel, m.To, m.group(), 0}
		if k.of == ofChanges {
			k.on = int64(m.Contract)
		}
		if b := open[k]; b != nil && k.of != alone {
			b.messages = append(b.messages, m)
			continue
		}
		b := &bundle{messages: []Message{m}}
		open[k] = b
		list = append(list, b)
	}
	return list
}

// writeAll writes the letters of a batch.
func (w Write) writeAll(ctx context.Context, of shop.ID, list []*bundle) error {
	for _, b := range list {
		first := b.messages[0]
		if first.Facts.empty() {
			b.letter = Letter{Content: first.Content, FromName: first.FromName}
			continue
		}
		var err error
		if b.letter, err = w(ctx, of, b.messages); err != nil {
			return err
		}
		b.letter.Subject, b.letter.FromName = oneLine(b.letter.Subject), oneLine(b.letter.FromName)
	}
	return nil
}
