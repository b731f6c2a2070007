package bulk

import (
	"errors"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// JobID identifies a job within a shop.
type JobID int64

// Status says how far a job is.
type Status string

// The statuses of a job.
const (
	Collecting Status = "COLLECTING" // its contracts are written down; none is changed yet
	Running    Status = "RUNNING"
	Stopping   Status = "STOPPING" // no contract is begun any more
	Finished   Status = "FINISHED"
	Stopped    Status = "STOPPED"
)

// nextStatus lists the moves of a job.
var nextStatus = map[Status][]Status{
	Collecting: {Running, Stopping},
	Running:    {Finished, Stopping},
	Stopping:   {Stopped},
}

// Open reports whether a job has something left to do.
func (s Status) Open() bool { return len(nextStatus[s]) > 0 }

// Job is an action on many contracts.
type Job struct {
	ID        JobID
	Action    Action
	Selection Selection
	Status    Status
	Key       string // of the request that started it: the same key starts one job
	By        activity.Actor
	RetryOf   JobID // 0: none

	Total     int         // contracts; until they are collected, as many as the preview found
	Collected int         // contracts that are written down
	Cursor    contract.ID // the last of them
	Succeeded int
	Failed    int

	CreatedAt time.Time
	StartedAt time.Time // when the first contract was begun; zero: none was
	EndedAt   time.Time // zero: it is open
	DueAt     time.Time // when a worker goes on with it; zero: never
	Version   int64
}

// Done returns how many contracts are settled.
func (j Job) Done() int { return j.Succeeded + j.Failed }

// Left returns how many contracts were not begun when the job was stopped, or are not settled.
func (j Job) Left() int { return max(j.Total-j.Done(), 0) }

// Pace returns contracts per minute since the first was begun; 0: not known yet.
func (j Job) Pace(now time.Time) float64 {
	if j.StartedAt.IsZero() {
		return 0
	}
	if !j.EndedAt.IsZero() {
		now = j.EndedAt
	}
	if took := now.Sub(j.StartedAt); took >= time.Second {
		return float64(j.Done()) / took.Minutes()
	}
	return 0
}

// Remaining returns how long the rest takes at the pace so far; 0: not known.
func (j Job) Remaining(now time.Time) time.Duration {
	pace := j.Pace(now)
	if pace == 0 || !j.Status.Open() {
		return 0
	}
	return time.Duration(float64(j.Left()) / pace * float64(time.Minute)).Round(time.Second)
}

// CanRetry reports whether contracts that failed can be tried again.
func (j Job) CanRetry() bool { return !j.Status.Open() && j.Failed > 0 }

// move gives the job another status.
func (j *Job) move(to Status) error {
	for _, allowed := range nextStatus[j.Status] {
		if allowed == to {
			j.Status = to
			return nil
		}
	}
	return fault.New(fault.FailedPrecondition, "the job is %s and cannot become %s", j.Status, to).Entity(entity).Code("jobStatus")
}

// actor is who changes the contracts of the job.
func (j Job) actor() activity.Actor {
	by := j.By
	by.Source, by.Job = activity.MerchantPortalBulkAutomation, int64(j.ID)
	return by
}

// details is the additional information of an entry about a job.
type details struct {
	Action    Kind   `json:"action"`
	Total     int    `json:"total"`
	Succeeded int    `json:"succeeded,omitempty"`
	Failed    int    `json:"failed,omitempty"`
	Left      int    `json:"notCarriedOut,omitempty"`
	RetryOf   JobID  `json:"retryOf,omitempty"`
	Reason    string `json:"reason"`
}

// entry is an entry about the job.
func (j Job) entry(event activity.EventType, status activity.Status, by activity.Actor, now time.Time, reason string) activity.Entry {
	d := details{Action: j.Action.Kind, Total: j.Total, Succeeded: j.Succeeded, Failed: j.Failed, RetryOf: j.RetryOf, Reason: reason}
	if !j.Status.Open() {
		d.Left = j.Left()
	}
	by.Source, by.Job = activity.MerchantPortalBulkAutomation, 0
	return activity.Entry{
		EntityID: int64(j.ID), EntityType: activity.EntityBulkAutomation, Event: event, Status: status, Actor: by, At: now, Info: activity.Details(d),
	}
}

// ItemStatus says how far a job is with a contract.
type ItemStatus string

// The statuses of a contract in a job.
const (
	Waiting ItemStatus = "WAITING"
	Begun   ItemStatus = "BEGUN"
	Done    ItemStatus = "DONE"
	Refused ItemStatus = "FAILED"
)

// Item is a contract in a job.
type Item struct {
	Job      JobID
	Contract contract.ID
	Status   ItemStatus
	DueAt    time.Time // of one that waits: when it is begun; of one that is begun: when its lease ends; zero: it is settled
	Tries    int       // how often it was begun
	Intent   Intent
	Changed  bool   // a change of the contract, or the e-mail to its customer, was committed by the job
	Code     string // why it failed
	Reason   string
	EndedAt  time.Time
}

// settle ends an item.
func (i *Item) settle(err error, now time.Time) {
	i.DueAt, i.EndedAt = time.Time{}, now
	if err == nil {
		i.Status, i.Code, i.Reason = Done, "", ""
		return
	}
	i.Status, i.Code, i.Reason = Refused, codeOf(err), reasonOf(err)
}

// maxReason is how many characters of a reason are kept.
const maxReason = 300

// reasonOf returns the reason of a failure, in words for the merchant.
func reasonOf(err error) string {
	why := "the change failed"
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Internal {
		why = f.Message
	}
	return shorten.Text(why, maxReason)
}

// codeOf returns the stable code of a failure.
func codeOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.ErrorKey != "" {
		return f.ErrorKey
	}
	return fault.KindOf(err).String()
}

// Work is the task of going on with the jobs of a shop.
type Work struct {
	Shop shop.ID `json:"shop"`
}

// Kind names the task.
func (Work) Kind() string { return "bulk_work" }
