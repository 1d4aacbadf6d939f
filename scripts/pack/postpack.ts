import { restoreFiles } from './swapped-files.ts'

/** Run by npm in the folder of a package, after it was packed. */
restoreFiles(process.cwd())
