// Package task says what a unit of background work is to the code that asks for
// one. Who carries it out, and when, is the job package's affair.
package task

// Task is work to be done after the change that asks for it is committed. It is
// a small struct of ids that can be written as JSON; two equal tasks that wait
// at the same time are one. It may be carried out more than once.
type Task interface {
	// Kind names the work. It is stored and must not change.
	Kind() string
}
