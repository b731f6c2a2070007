package billing

import "time"

// The engine's limits and waits. All waits are in the domain's time.
const (
	// QueueLength is how many upcoming attempts a contract has at least.
	QueueLength = 6
	// batchSize is how many due attempts are taken up in one transaction.
	batchSize = 200
	// lease is how long a taken-up attempt belongs to whoever took it.
	lease = 5 * time.Minute
	// sendWindow is how long after the first send of a try it may be sent again
	// without further ado: shorter than the life of the platform's keys.
	sendWindow = 20 * time.Hour
	// settlingTime is how long a send may still be on its way. After the
	// window a try is sent again only when the platform says, this long after
	// the last send, that it never saw it.
	settlingTime = time.Hour
	// throttleWait is how long to wait when the platform did nothing for us.
	throttleWait = time.Minute
	// inFlightWait is how long a cycle waits for another one of its contract.
	inFlightWait = 10 * time.Minute
	// repairWait is the time between attempts to clear up an unknown outcome.
	repairWait = time.Hour
	// horizon is how long an accepted try may stay without an end before it is
	// shown as stuck. It goes on being asked for.
	horizon = 48 * time.Hour
	// MaxTriggers is how many immediate charges a contract may have within
	// TriggerWindow.
	MaxTriggers   = 5
	TriggerWindow = time.Hour
	// pastTolerance is how far in the past a new billing date may lie.
	pastTolerance = 10 * time.Minute
	// MaxNote is the longest order note, in characters.
	MaxNote = 5000
)

// retryWaits are the waits after the first, second and third call that found
// the platform unreachable. After a fourth the attempt is PlatformException.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// pollWaits are the waits between questions after an attempt that stays pending;
// the last one repeats.
var pollWaits = []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour}

func pollWait(polls int) time.Duration { return pollWaits[min(polls, len(pollWaits)-1)] }
