/* vec3 */
