import { MAX_GZIP_BYTES, measureBundle } from './bundle.ts'

const { bytes, gzipBytes } = await measureBundle()
console.log(`sdk for browsers: ${bytes} bytes minified, ${gzipBytes} gzipped (at most ${MAX_GZIP_BYTES})`)
if (gzipBytes > MAX_GZIP_BYTES) process.exitCode = 1
