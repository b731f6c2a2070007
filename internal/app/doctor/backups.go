package doctor

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// backups checks that the newest file of the folder of backups is new, and not empty.
func backups(_ context.Context, c *checkup) Finding {
	folder := c.Doctor.Backups
	if folder == "" {
		return notChecked("PERENNIAL_BACKUPS names no folder of backups")
	}
	var newest fs.FileInfo
	err := filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && (newest == nil || info.ModTime().After(newest.ModTime())) {
			newest = info
		}
		return err
	})
	const do = "run the backup by hand and read what it says; with systemd: journalctl -u perennial-backup"
	switch {
	case os.IsNotExist(err) || err == nil && newest == nil:
		return failed(do, "there is no backup in %s", folder)
	case err != nil:
		return failed("let the user of perennial doctor read the folder", "%v", err)
	}
	age := c.Clock.Now().Sub(newest.ModTime()).Round(time.Minute)
	switch {
	case newest.Size() == 0:
		return failed(do, "the newest backup, %s, is empty", newest.Name())
	case age > c.Doctor.BackupAge:
		return failed(do, "the newest backup, %s, is %s old; at most %s is allowed", newest.Name(), age, c.Doctor.BackupAge)
	}
	return ok("the newest, %s, is %s old", newest.Name(), age)
}
