import { takeCoverage } from 'node:v8'

// Writes which functions ran since the start or the last signal, into the folder NODE_V8_COVERAGE.
process.on('SIGUSR2', () => takeCoverage())
