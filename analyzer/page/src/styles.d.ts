// Style sheets are bundled by the build; the type checker need not read them.
declare module "*.css";
