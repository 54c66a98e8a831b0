module olmv1.dev/e2e/pause

go 1.24.0
